/** The card's style sheet, put into the page once. */

import css from './style/index.css';

const MARK = 'data-acp-jupyter';

/** Make sure that the style sheet stands where `el` is: in the page's head, or in its shadow root. */
export function ensureStyle(el: Element): void {
  const root = el.getRootNode();
  const place = root instanceof ShadowRoot ? root : document.head;
  // Two versions may meet on one page: a kernel's renderer and the server's labextension.
  if ([...place.querySelectorAll(`style[${MARK}]`)].some(style => style.textContent === css)) return;
  const style = document.createElement('style');
  style.setAttribute(MARK, '');
  style.textContent = css;
  place.append(style);
}
