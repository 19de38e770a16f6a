/** The one door through which an agent's HTML reaches the page. */

import DOMPurify from 'dompurify';

const TAGS =
  'a b blockquote br code del dd details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre s samp small span ' +
  'strong sub summary sup table tbody td tfoot th thead tr u ul var';
const ATTRIBUTES = 'align alt class colspan href reversed rowspan src start title';
const RASTER = /^data:image\/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=\s]+$/i;
/** Only our highlighter's classes: others could dress text up as a part of the card or of the notebook. */
const CLASS = /^(?:hljs(?:-[\w-]+)?|acp-task|acp-task-done)$/;

/** Whether the card may show this address as an image: raster data in place, never a fetch. */
export function isRasterData(address: string): boolean {
  return RASTER.test(address);
}

/** `address` where a link may lead there, else null: http, https and mailto. */
export function safeLink(address: string): string | null {
  try {
    const url = new URL(address);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function setLink(node: Element, address: string): void {
  const href = safeLink(address);
  node.removeAttribute('href');
  if (href === null) return;
  node.setAttribute('href', href);
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer');
  if (!node.hasAttribute('title')) node.setAttribute('title', href);
}

/** An image that would be fetched becomes a link that says where it is. */
function imageAsLink(node: Element): void {
  const source = node.getAttribute('src') ?? '';
  const link = node.ownerDocument.createElement('a');
  const label = node.getAttribute('alt');
  link.textContent = `${label ? `${label} ` : ''}(image: ${source.slice(0, 500)})`;
  setLink(link, source);
  node.replaceWith(link);
}

function clean(node: Element): void {
  const classes = (node.getAttribute('class') ?? '').split(/\s+/).filter(name => CLASS.test(name));
  if (classes.length > 0) node.setAttribute('class', classes.join(' '));
  else node.removeAttribute('class');
  if (node.tagName === 'A') setLink(node, node.getAttribute('href') ?? '');
  if (node.tagName === 'IMG' && !isRasterData(node.getAttribute('src') ?? '')) imageAsLink(node);
}

const purify = DOMPurify(window);
const CONFIG = {
  ALLOWED_TAGS: TAGS.split(' '),
  ALLOWED_ATTR: ATTRIBUTES.split(' '),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true
} as const;

/** `html` with nothing in it that acts, fetches, or imitates the card. */
export function sanitize(html: string): string {
  const fragment = purify.sanitize(html, { ...CONFIG, ALLOWED_TAGS: [...CONFIG.ALLOWED_TAGS], ALLOWED_ATTR: [...CONFIG.ALLOWED_ATTR] });
  for (const node of fragment.querySelectorAll('*')) clean(node);
  const holder = fragment.ownerDocument.createElement('div');
  holder.append(fragment);
  return holder.innerHTML;
}
