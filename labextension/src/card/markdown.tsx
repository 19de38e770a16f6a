import type { Token, Tokens } from 'marked';
import { Component, h, type ComponentChild, type ComponentChildren, type JSX } from 'preact';
import { MarkdownText, type MarkdownBlock } from '../markdown/blocks';
import { highlight } from '../markdown/highlight';
import { isRasterData, safeLink } from '../markdown/links';

/** An agent's Markdown, which may grow. It is drawn from the lexer's tokens: no HTML of the agent's is ever read as HTML. */
export class Markdown extends Component<{ text: string }> {
  private readonly blocks = new MarkdownText();

  override render(): ComponentChildren {
    const blocks = this.blocks.update(this.props.text);
    return (
      <div class="acp-md" dir="auto">
        {blocks.map((block, index) => <BlockView key={index} block={block} />)}
      </div>
    );
  }
}

/** One block, drawn anew only when it is another. */
class BlockView extends Component<{ block: MarkdownBlock }> {
  override shouldComponentUpdate(next: { block: MarkdownBlock }): boolean {
    return next.block !== this.props.block;
  }

  override render(): ComponentChildren {
    return <div class="acp-md-block">{draw(this.props.block.token)}</div>;
  }
}

function draw(token: Token): ComponentChild {
  switch (token.type) {
    case 'heading':
      return h(`h${(token as Tokens.Heading).depth}`, null, inside(token));
    case 'paragraph':
      return <p>{inside(token)}</p>;
    case 'blockquote':
      return <blockquote>{inside(token)}</blockquote>;
    case 'strong':
    case 'em':
    case 'del':
      return h(token.type, null, inside(token));
    case 'hr':
    case 'br':
      return h(token.type, null);
    case 'code':
      return <CodeBlock {...(token as Tokens.Code)} />;
    case 'codespan':
      return <code>{(token as Tokens.Codespan).text}</code>;
    case 'list':
      return <List {...(token as Tokens.List)} />;
    case 'checkbox':
      return <span class={`acp-task${(token as Tokens.Checkbox).checked ? ' acp-task-done' : ''}`}>{(token as Tokens.Checkbox).checked ? '☑ ' : '☐ '}</span>;
    case 'table':
      return <Table {...(token as Tokens.Table)} />;
    case 'link':
      return <Link token={token as Tokens.Link} />;
    case 'image':
      return <Image {...(token as Tokens.Image)} />;
    case 'space':
    case 'def':
      return null;
    case 'html':
      return (token as Tokens.HTML).block ? <p class="acp-md-html">{token.raw.trim()}</p> : token.raw;
    case 'escape':
      return (token as Tokens.Escape).text;
    default: // text, and what a later lexer may know
      return 'tokens' in token ? inside(token) : unescaped('text' in token ? token.text : token.raw);
  }
}

function inside(token: Token): ComponentChildren {
  return drawAll('tokens' in token ? token.tokens ?? [] : []);
}

/** Tags that may come as HTML: they only change how the words between them look. */
const PLAIN_TAG = /^<(b|strong|i|em|u|s|del|ins|sub|sup|kbd|mark|code|small)>$/i;

/** The tokens of a line or of a list; HTML among them is words, but for pairs of plain tags and line breaks. */
function drawAll(tokens: Token[]): ComponentChild[] {
  const drawn: ComponentChild[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    const tag = token.type === 'html' ? PLAIN_TAG.exec(token.raw)?.[1]?.toLowerCase() : undefined;
    const end = tag === undefined ? -1 : tokens.findIndex((one, place) => place > at && one.raw.toLowerCase() === `</${tag}>`);
    if (tag !== undefined && end > 0) {
      drawn.push(h(tag, null, drawAll(tokens.slice(at + 1, end))));
      at = end;
    } else {
      drawn.push(token.type === 'html' && /^<br ?\/?>$/i.test(token.raw) ? <br /> : draw(token));
    }
  }
  return drawn;
}

/** A text with its character references read: `&amp;` is an ampersand. */
function unescaped(text: string): string {
  return text.replace(/&(?:#\d+|#x[\da-f]+|\w+);/gi, reference => {
    const reader = document.createElement('textarea');
    reader.innerHTML = reference; // a single reference: nothing else fits the pattern
    return reader.value;
  });
}

function CodeBlock({ text, lang }: Tokens.Code): JSX.Element {
  const language = (lang ?? '').trim().split(/\s+/)[0] ?? '';
  return (
    <pre>
      <code class="hljs">{highlight(text, language).map(([piece, name]) => (name ? <span class={name}>{piece}</span> : piece))}</code>
    </pre>
  );
}

function List({ ordered, start, items }: Tokens.List): JSX.Element {
  const entries = items.map(item => <li>{drawAll(item.tokens)}</li>);
  return ordered ? <ol start={start === '' || start === 1 ? undefined : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function Table({ header, rows }: Tokens.Table): JSX.Element {
  const row = (cells: Tokens.TableCell[]): JSX.Element => (
    <tr>{cells.map(cell => h(cell.header ? 'th' : 'td', cell.align ? { align: cell.align } : null, drawAll(cell.tokens)))}</tr>
  );
  return (
    <table>
      <thead>{row(header)}</thead>
      {rows.length > 0 ? <tbody>{rows.map(row)}</tbody> : null}
    </table>
  );
}

/** A link that says where it leads, and leads to the web or to mail only. */
function Link({ token }: { token: Tokens.Link }): JSX.Element {
  const href = safeLink(unescaped(token.href));
  if (href === null) return <a>{inside(token)}</a>;
  return <a href={href} target="_blank" rel="noopener noreferrer" title={token.title ? `${unescaped(token.title)} (${href})` : href}>{inside(token)}</a>;
}

/** Raster data in place; what would be fetched becomes a link that says where it is. */
function Image({ href, text, title }: Tokens.Image): JSX.Element {
  const alt = unescaped(text);
  if (isRasterData(href)) return <img src={href} alt={alt} title={title ?? undefined} />;
  const to = safeLink(href);
  const words = `${alt ? `${alt} ` : ''}(image: ${href.slice(0, 500)})`;
  return to === null ? <a>{words}</a> : <a href={to} target="_blank" rel="noopener noreferrer" title={to}>{words}</a>;
}
