/** What a tool call works on, read from its raw input: the command in full, its directory, an address. */

import { parseJson, type JsonNode } from './json/parse';
import type { ToolCall } from './types';

export interface ToolInput {
  /** The whole command, an array as one shell-quoted line; null where none was sent. */
  command: string | null;
  cwd: string | null;
  url: string | null;
}

const NOTHING: ToolInput = { command: null, cwd: null, url: null };

function field(node: JsonNode, names: string[]): JsonNode | undefined {
  if (node.type !== 'object') return undefined;
  return names.map(name => node.entries.find(([key]) => key === name)?.[1]).find(value => value !== undefined);
}

function text(node: JsonNode | undefined): string | null {
  return node?.type === 'string' ? node.value : null;
}

function words(node: JsonNode | undefined): string[] {
  return node?.type === 'array' ? node.items.map(item => text(item) ?? ('text' in item ? item.text : '…')) : [];
}

/** One word as a POSIX shell would need it quoted. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function commandOf(node: JsonNode): string | null {
  const command = field(node, ['command', 'cmd']);
  const args = words(field(node, ['args', 'arguments'])).map(quote);
  if (command?.type === 'array') return [...words(command).map(quote), ...args].join(' ');
  const line = text(command);
  return line === null ? null : [line, ...args].join(' ');
}

/** Read `rawInput`, JSON text or null. */
export function toolInput(rawInput: string | null): ToolInput {
  if (rawInput === null) return NOTHING;
  try {
    const node = parseJson(rawInput);
    return {
      command: commandOf(node),
      cwd: text(field(node, ['cwd', 'workdir', 'working_directory', 'workingDirectory', 'directory'])),
      url: text(field(node, ['url', 'uri']))
    };
  } catch {
    return NOTHING;
  }
}

/** Every path of a tool call, of its diffs and its locations, each once, as the agent sent them. */
export function pathsOf(call: ToolCall): string[] {
  const diffs = call.content.flatMap(item => (item.type === 'diff' ? [item.path] : []));
  return [...new Set([...diffs, ...call.locations.map(location => location.path)])];
}
