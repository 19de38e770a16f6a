/**
 * A terminal's output as finished lines: colours kept, and a line rewritten by carriage returns, backspaces and erase
 * codes shown as it ended. Only what is new is read, so that a long output stays cheap. Moves of the cursor up or
 * down are not followed: this is a log, not a screen.
 */

import { webAddress } from '../text/address';
import { PLAIN, sgr, type Style } from './sgr';

export interface Span {
  text: string;
  style: Style;
}
export type Line = Span[];

/** Lines are kept in chunks that only grow, and never beyond this: a full one is drawn once. */
export const CHUNK = 100;

// Links (OSC 8); OSC and other string sequences; CSI; other escapes; then what moves within a line.
const TOKEN = new RegExp(
  [
    String.raw`\x1b\]8;[^;\x07\x1b]*;(?<link>[^\x07\x1b]*)(?:\x07|\x1b\\)`,
    String.raw`\x1b[\]PX^_][\s\S]*?(?:\x07|\x1b\\)`,
    String.raw`\x1b\[(?<parameters>[0-?]*)[ -/]*(?<final>[@-~])`,
    String.raw`\x1b[ -/]*[0-~]`,
    String.raw`(?<move>[\r\x08])`,
    String.raw`[\x00-\x07\x0b-\x1f\x7f]`
  ].join('|'),
  'g'
);

/** A line under way longer than this keeps only what follows its last carriage return. */
const MAX_PENDING = 16_384;
/** Cursor moves go no further to the right than this, or the line's own end. */
const MAX_COLUMN = 500;

export class Screen {
  readonly chunks: Line[][] = [];
  private style = PLAIN;
  private pending = '';
  private length = 0;
  private tail = '';

  /** How many lines there are, one under way among them. */
  get lines(): number {
    const last = this.chunks.at(-1);
    const full = last === undefined ? 0 : (this.chunks.length - 1) * CHUNK + last.length;
    return full + (this.pending === '' ? 0 : 1);
  }

  /** The line under way, or null. */
  get current(): Line | null {
    return this.pending === '' ? null : readLine(this.pending, this.style).line;
  }

  /** Take the whole output so far; false where it is not a longer form of what was read, and a new screen is needed. */
  update(output: string): boolean {
    if (output.length < this.length || output.slice(this.length - this.tail.length, this.length) !== this.tail) return false;
    const added = output.slice(this.length);
    this.length = output.length;
    this.tail = output.slice(-64);
    const lines = (this.pending + added).split('\n');
    this.pending = shorten(lines.pop() as string);
    for (const line of lines) this.push(line);
    return true;
  }

  private push(text: string): void {
    const { line, style } = readLine(text.replace(/\r+$/, ''), this.style);
    this.style = style;
    const last = this.chunks.at(-1);
    if (last === undefined || last.length >= CHUNK) this.chunks.push([line]);
    else last.push(line);
  }
}

function shorten(pending: string): string {
  const from = pending.length > MAX_PENDING ? pending.lastIndexOf('\r', pending.length - 2) : -1;
  return from > 0 ? pending.slice(from) : pending;
}

interface Cell {
  char: string;
  style: Style;
}

const PLAIN_TEXT = /^[^\x00-\x08\x0a-\x1f\x7f]*$/;

/** Read one line, beginning in `style`. */
function readLine(text: string, style: Style): { line: Line; style: Style } {
  if (PLAIN_TEXT.test(text)) return { line: text === '' ? [] : [{ text, style }], style };
  const cells: Cell[] = [];
  let at = 0;
  let from = 0;
  const write = (part: string): void => {
    for (const char of part) cells[at++] = { char, style };
  };
  for (const match of text.matchAll(TOKEN)) {
    write(text.slice(from, match.index));
    from = match.index + match[0].length;
    const { parameters = '', final, move, link } = match.groups ?? {};
    if (link !== undefined) style = { ...style, link: webAddress(link) };
    else if (move === '\r') at = 0;
    else if (move === '\b') at = Math.max(0, at - 1);
    else if (final === 'm') style = sgr(style, parameters);
    else if (final === 'K') erase(cells, at, parameters);
    else if (final === 'G') at = Math.max(0, (Number(parameters) || 1) - 1);
    else if (final === 'C') at += Number(parameters) || 1;
    else if (final === 'D') at = Math.max(0, at - (Number(parameters) || 1));
    at = Math.min(at, Math.max(cells.length, MAX_COLUMN));
  }
  write(text.slice(from));
  return { line: spans(cells), style };
}

function erase(cells: Cell[], at: number, parameters: string): void {
  if (parameters === '' || parameters === '0') cells.length = Math.min(cells.length, at);
  else if (parameters === '2') cells.length = 0;
  else if (parameters === '1') cells.fill({ char: ' ', style: PLAIN }, 0, Math.min(at + 1, cells.length));
}

function spans(cells: Cell[]): Line {
  const line: Line = [];
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] ?? { char: ' ', style: PLAIN };
    const last = line.at(-1);
    if (last && last.style === cell.style) last.text += cell.char;
    else line.push({ text: cell.char, style: cell.style });
  }
  return line;
}
