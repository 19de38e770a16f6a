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

const LANGUAGES = { bash, diff, json, python, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
// TypeScript's grammar holds JavaScript's; a second copy would weigh 3 kB.
hljs.registerAliases(['javascript', 'js', 'jsx', 'mjs', 'cjs'], { languageName: 'typescript' });

/** Longer code stays plain: colours are not worth a pause. */
const MAX_LENGTH = 60_000;

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`);
}

/** `code` as HTML: escaped, and coloured where its language is known. */
export function highlight(code: string, language: string): string {
  if (!hljs.getLanguage(language) || code.length > MAX_LENGTH) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}
