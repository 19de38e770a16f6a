/** Apply the kernel's deltas to the document, in place; `docs/turn-format.md`, "Messages". */

import type { Op, PathPart, Turn } from './types';

type Node = Record<string, unknown>;

/** An own property: an id such as `constructor` or `__proto__` must not reach the prototype. */
export function own<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function put(node: object, key: string, value: unknown): void {
  Object.defineProperty(node, key, { value, writable: true, enumerable: true, configurable: true });
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

function step(node: Node, part: PathPart): unknown {
  return own(node, String(part));
}

function parentOf(turn: Turn, path: PathPart[]): Node {
  let node: unknown = turn;
  for (const part of path.slice(0, -1)) {
    if (!isNode(node)) break;
    node = step(node, part);
  }
  if (!isNode(node)) throw new Error(`no node at ${JSON.stringify(path.slice(0, -1))}`);
  return node;
}

function merge(turn: Turn, path: PathPart[], value: Record<string, unknown>): void {
  const last = path.at(-1);
  if (last === undefined) return mergeInto(turn, value);
  const parent = parentOf(turn, path);
  const node = step(parent, last);
  if (isNode(node)) return mergeInto(node, value);
  if (Array.isArray(parent) && last !== parent.length) {
    throw new Error(`${JSON.stringify(path)} would leave a hole`);
  }
  put(parent, String(last), value);
}

function mergeInto(node: object, value: Record<string, unknown>): void {
  for (const key of Object.keys(value)) put(node, key, value[key]);
}

function append(turn: Turn, path: PathPart[], value: string): void {
  const last = path.at(-1);
  const parent = parentOf(turn, path);
  const text = last === undefined ? undefined : step(parent, last);
  if (last === undefined || typeof text !== 'string') {
    throw new Error(`no text at ${JSON.stringify(path)}`);
  }
  put(parent, String(last), text + value);
}

/**
 * Apply `op` to `turn`, in place.
 *
 * @returns The node that changed, as `"items/4"` or `"tool_calls/t1"`; `""` for the top level; null for anything.
 * @throws Error where the document has no such place: the card and the kernel then differ.
 */
export function applyOp(turn: Turn, op: Op): string | null {
  if (op.op === 'merge') merge(turn, op.path, op.value);
  else if (op.op === 'append') append(turn, op.path, op.value);
  else throw new Error(`unknown op ${JSON.stringify((op as { op: unknown }).op)}`);
  if (op.path.length >= 2) return `${op.path[0]}/${op.path[1]}`;
  const anything = op.path.length === 1 || COLLECTIONS.some(name => Object.hasOwn(op.value as object, name));
  return anything ? null : '';
}

const COLLECTIONS = ['items', 'tool_calls', 'terminals', 'permissions', 'elicitations', 'plans'];
