/** Markdown as a list of blocks: while a text grows, only its end is read and drawn again. */

import { Lexer, type Token, type TokensList } from 'marked';

/** The text's blocks by GitHub's rules, which are the library's own default. */
function lex(text: string): TokensList {
  return Lexer.lex(text);
}

export interface MarkdownBlock {
  source: string;
  token: Token;
}

/** How many of `tokens` cannot change any more, whatever comes: those before a later block whose first line is whole. */
function finished(tokens: Token[]): number {
  for (let i = tokens.length - 1; i > 0; i--) {
    const settled = i < tokens.length - 1 || (tokens[i] as Token).raw.includes('\n');
    if ((tokens[i] as Token).type !== 'space' && tokens[i - 1]?.type === 'space' && settled) return i;
  }
  return 0;
}

/** The blocks of a text that may grow. */
export class MarkdownText {
  private text = '';
  /** Where the part that may still change begins, and how many blocks come before. */
  private settledTo = 0;
  private settledBlocks: MarkdownBlock[] = [];
  private all: MarkdownBlock[] = [];

  /** The blocks of `text`; those that did not change are the same objects as before. */
  update(source: string): MarkdownBlock[] {
    // As the lexer sees it, so that lengths agree; a last carriage return may still be half of a line's end.
    const text = source.includes('\r') ? source.replace(/\r$/, '').replace(/\r\n?/g, '\n') : source;
    if (text === this.text) return this.all;
    if (!text.startsWith(this.text)) this.reset();
    this.text = text;
    let tokens = lex(text.slice(this.settledTo));
    if (this.settledTo > 0 && Object.keys(tokens.links).length > 0) {
      // A link's definition may serve blocks that were finished before it came.
      this.reset();
      tokens = lex(text);
    }
    this.all = [...this.settledBlocks, ...this.blocksOf(tokens)];
    if (Object.keys(tokens.links).length === 0) this.settle(tokens);
    return this.all;
  }

  private reset(): void {
    this.settledTo = 0;
    this.settledBlocks = [];
  }

  private blocksOf(tokens: TokensList): MarkdownBlock[] {
    const before = this.all.slice(this.settledBlocks.length);
    const known = Object.keys(tokens.links).length === 0 ? before : [];
    const drawn = tokens.filter(token => token.type !== 'space' && token.type !== 'def');
    return drawn.map((token, index) =>
      known[index]?.source === token.raw ? (known[index] as MarkdownBlock) : { source: token.raw, token }
    );
  }

  private settle(tokens: TokensList): void {
    const count = finished(tokens);
    const done = tokens.slice(0, count);
    this.settledTo += done.reduce((length, token) => length + token.raw.length, 0);
    const blocks = done.filter(token => token.type !== 'space' && token.type !== 'def').length;
    this.settledBlocks = this.all.slice(0, this.settledBlocks.length + blocks);
  }
}
