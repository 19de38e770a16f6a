/** What a tool call works on, read from its raw input: the command in full, its directory, an address. */

import { newLines } from './diff/rows';
import { parseJson, type JsonNode } from './json/parse';
import type { Diff, ToolCall } from './types';

export interface ToolInput {
  /** The whole command, an array as one shell-quoted line; null where none was sent. */
  command: string | null;
  cwd: string | null;
  url: string | null;
}

const COMMANDS = ['command', 'cmd'];
const ARGUMENTS = ['args', 'arguments'];
const DIRECTORIES = ['cwd', 'workdir', 'working_directory', 'workingDirectory', 'directory'];
const ADDRESSES = ['url', 'uri'];
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
  const command = field(node, COMMANDS);
  const args = words(field(node, ARGUMENTS)).map(quote);
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
      cwd: text(field(node, DIRECTORIES)),
      url: text(field(node, ADDRESSES))
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

/** The first line that a diff changes, from 1 in the new text; null where it changes none. */
export function changedAt(diff: Diff | undefined): number | null {
  const first = diff?.edits[0];
  return first ? first.at + 1 : null;
}

/** The command of a call, from its raw input; null where it has none, or is not about one. */
export function commandLine(call: ToolCall): string | null {
  return call.kind === 'execute' ? toolInput(call.raw_input).command : null;
}

const PATHS = ['path', 'file_path', 'filePath', 'abs_path', 'absolute_path', 'file', 'filename'];
const TEXTS = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text', 'new_string', 'newString', 'new_str', 'newText', 'new_text', 'content'];

/** Whether a call's raw input holds anything but what a request shows anyway: its command, directory, paths, address, texts of diffs. */
export function saysMore(call: ToolCall): boolean {
  if (call.raw_input === null) return false;
  let node: JsonNode;
  try {
    node = parseJson(call.raw_input);
  } catch {
    return true;
  }
  if (node.type !== 'object') return true;
  const shown = shownMembers(node, call);
  return !node.entries.every(([key, value]) => shown(key, value));
}

function shownMembers(node: JsonNode, call: ToolCall): (key: string, value: JsonNode) => boolean {
  const input = toolInput(call.raw_input);
  const paths = pathsOf(call);
  const texts = new Set(call.content.flatMap(item => (item.type === 'diff' ? textsOf(item) : [])));
  const args = field(node, ARGUMENTS);
  // arguments that are no list, and words that are no text, do not stand in the command line as they are
  const inCommand = input.command === null ? [] : [field(node, COMMANDS), args?.type === 'array' ? args : undefined].filter(isPlain);
  return (key, value) => {
    if (inCommand.includes(value)) return true;
    const words = text(value);
    if (words === null) return false;
    if (DIRECTORIES.includes(key)) return call.kind === 'execute' ? words === input.cwd : paths.includes(words);
    if (ADDRESSES.includes(key)) return call.kind !== 'execute' && paths.length === 0 && words === input.url;
    if (PATHS.includes(key)) return paths.includes(words);
    if (key === 'title' || key === 'description') return words === call.title;
    return TEXTS.includes(key) && texts.has(words);
  };
}

/** A string, or strings alone: what a command line shows word for word. */
function isPlain(node: JsonNode | undefined): boolean {
  return node?.type === 'string' || (node?.type === 'array' && node.items.every(item => item.type === 'string'));
}

/** A diff's two texts. */
function textsOf(diff: Diff): string[] {
  const lines = newLines(diff);
  for (const { at, add, del } of [...diff.edits].reverse()) lines.splice(at, add, ...del);
  return diff.is_new ? [diff.new_text] : [lines.join('\n'), diff.new_text];
}
