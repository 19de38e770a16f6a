/** Ways into a JSON tree: the Python subscripts that lead to a value, finding, and its text again. */

import type { JsonNode } from './parse';

/** What follows the parent's expression (`["command"]`, `[3]`), the member's name, and the value. */
export type Step = [step: string, key: string | null, node: JsonNode];

/** Invisible ones are spelled out: what is copied is what is seen. */
function pythonText(text: string): string {
  return JSON.stringify(text).replace(/[\p{C}\u2028\u2029]/gu, char => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
}

/** The values within `node`; those behind a gap are counted from the end. */
export function stepsOf(node: JsonNode): Step[] {
  if (node.type === 'object') return node.entries.map(([key, value]) => [`[${pythonText(key)}]`, key, value]);
  if (node.type !== 'array') return [];
  const { items, gap } = node;
  return items.map((item, at) => [`[${gap && at >= gap.at ? at - items.length : at}]`, null, item]);
}

/** The value that `path` leads to. */
export function nodeAt(node: JsonNode, path: string): JsonNode {
  const next = stepsOf(node).find(([step]) => path.startsWith(step));
  return next ? nodeAt(next[2], path.slice(next[0].length)) : node;
}

/** The value as compact JSON text, its numbers as they were written. */
export function jsonText(node: JsonNode): string {
  if (node.type === 'object') return `{${node.entries.map(([key, value]) => `${JSON.stringify(key)}:${jsonText(value)}`).join()}}`;
  if (node.type === 'array') return `[${node.items.map(jsonText).join()}]`;
  return node.type === 'string' ? JSON.stringify(node.value) : node.text;
}

export interface Hits {
  /** The first of them, each with its path. */
  shown: [path: string, node: JsonNode][];
  count: number;
}

/** Where `words` stand in a key or a value, in any case. */
export function findIn(root: JsonNode, words: string, limit: number): Hits {
  const hits: Hits = { shown: [], count: 0 };
  const wanted = words.toLowerCase();
  const holds = (text: string | null): boolean => text !== null && text.toLowerCase().includes(wanted);
  const look = (node: JsonNode, key: string | null, path: string): void => {
    const value = node.type === 'string' ? node.value : 'text' in node ? node.text : null;
    if ((holds(key) || holds(value)) && ++hits.count <= limit) hits.shown.push([path, node]);
    for (const [step, name, child] of stepsOf(node)) look(child, name, path + step);
  };
  look(root, null, '');
  return hits;
}
