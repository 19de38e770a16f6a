/**
 * JSON as a tree that keeps number literals as they were written: JavaScript's numbers would falsify large integers.
 * `NaN` and `Infinity` are accepted, since Python writes them. Nesting beyond `MAX_DEPTH` is kept as text.
 */

export type JsonNode =
  | { type: 'object'; entries: [string, JsonNode][] }
  | { type: 'array'; items: JsonNode[]; gap?: { at: number; count: number } }
  | { type: 'string'; value: string }
  | { type: 'number' | 'word' | 'text'; text: string };

export const MAX_DEPTH = 200;

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:Infinity|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)/y;
const WORD = /true|false|null|NaN/y;

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  document(): JsonNode {
    const node = this.value(0);
    this.space();
    if (this.at < this.text.length) throw this.error();
    return node;
  }

  private value(depth: number): JsonNode {
    this.space();
    const char = this.text[this.at];
    if ((char === '{' || char === '[') && depth >= MAX_DEPTH) return { type: 'text', text: this.skip() };
    if (char === '{') return this.object(depth);
    if (char === '[') return this.array(depth);
    if (char === '"') return { type: 'string', value: this.string() };
    const number = this.take(NUMBER);
    if (number !== null) return { type: 'number', text: number };
    const word = this.take(WORD);
    if (word !== null) return { type: 'word', text: word };
    throw this.error();
  }

  private object(depth: number): JsonNode {
    const entries: [string, JsonNode][] = [];
    this.list('}', () => {
      this.space();
      const key = this.string();
      this.space();
      this.expect(':');
      entries.push([key, this.value(depth + 1)]);
    });
    return { type: 'object', entries };
  }

  private array(depth: number): JsonNode {
    const items: JsonNode[] = [];
    this.list(']', () => items.push(this.value(depth + 1)));
    return { type: 'array', items };
  }

  private list(end: string, one: () => void): void {
    this.at += 1;
    this.space();
    if (this.text[this.at] === end) {
      this.at += 1;
      return;
    }
    for (;;) {
      one();
      this.space();
      if (this.text[this.at] === end) break;
      this.expect(',');
    }
    this.at += 1;
  }

  /** By hand, since a regular expression overflows its stack on a string of some megabytes. */
  private string(): string {
    if (this.text[this.at] !== '"') throw this.error();
    let end = this.at;
    do {
      end = this.text.indexOf('"', end + 1);
      if (end < 0) throw this.error();
    } while (this.escaped(end));
    const literal = this.text.slice(this.at, end + 1);
    this.at = end + 1;
    return JSON.parse(literal) as string;
  }

  private escaped(quote: number): boolean {
    let from = quote;
    while (this.text[from - 1] === '\\') from -= 1;
    return (quote - from) % 2 === 1;
  }

  /** Pass over one nested value without building it, and without recursion. */
  private skip(): string {
    const start = this.at;
    let depth = 0;
    do {
      const char = this.text[this.at];
      if (char === undefined) throw this.error();
      if (char === '"') this.string();
      else {
        if (char === '{' || char === '[') depth += 1;
        if (char === '}' || char === ']') depth -= 1;
        this.at += 1;
      }
    } while (depth > 0);
    return this.text.slice(start, this.at);
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  private space(): void {
    this.take(SPACE);
  }

  private expect(char: string): void {
    if (this.text[this.at] !== char) throw this.error();
    this.at += 1;
  }

  private error(): Error {
    return new SyntaxError(`not JSON at character ${this.at}`);
  }
}

/**
 * Read JSON text.
 *
 * @throws SyntaxError where it is none.
 */
export function parseJson(text: string): JsonNode {
  return new Reader(text).document();
}
