/** Code in colours: the core of highlight.js with the languages that agents write most. */

import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import diff from 'highlight.js/lib/languages/diff';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** A stretch of code and the class of its colour, if any. */
export type Piece = [text: string, name: string];

/** What highlight.js tells as it reads, as a flat list: the innermost scope gives the colour. */
class Pieces {
  readonly list: Piece[] = [];
  private readonly scopes: string[] = [''];

  addText(text: string): void {
    const [last, name] = [this.list.at(-1), this.scopes.at(-1) ?? ''];
    if (last?.[1] === name) last[0] += text;
    else if (text) this.list.push([text, name]);
  }

  startScope(scope: string): void {
    // `title.function` is coloured as `title`; an embedded language has no colour of its own
    const name = scope.split('.')[0] ?? '';
    this.scopes.push(name.startsWith('language:') ? '' : `hljs-${name}`);
  }

  endScope(): void {
    this.scopes.pop();
  }

  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(other: Pieces, name: string): void {
    if (name) this.startScope(`language:${name}`);
    for (const [text, scope] of other.list) {
      this.scopes.push(scope);
      this.addText(text);
      this.scopes.pop();
    }
    if (name) this.endScope();
  }

  finalize(): void {}

  /** Only the list is used: no HTML is ever made. */
  toHTML(): string {
    return '';
  }
}

const LANGUAGES = { bash, diff, json, python, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
// TypeScript's grammar holds JavaScript's; a second copy would weigh 3 kB.
hljs.registerAliases(['javascript', 'js', 'jsx', 'mjs', 'cjs'], { languageName: 'typescript' });
hljs.configure({ __emitter: Pieces } as never);

/** Longer code stays plain: colours are not worth a pause. */
const MAX_LENGTH = 60_000;

/** `code` in pieces, coloured where its language is known. */
export function highlight(code: string, language: string): Piece[] {
  if (!hljs.getLanguage(language) || code.length > MAX_LENGTH) return [[code, '']];
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as { _emitter: Pieces };
  return _emitter.list;
}
