/** A diff's lines in the colours of their language, and the halves of one that stand side by side. */

import { highlight, type Piece } from '../markdown/highlight';
import type { LineRow } from './rows';

/** The pieces of each row's text; a language is told by the file's ending. */
export function coloured(rows: LineRow[], path: string): Map<LineRow, Piece[]> {
  const language = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  const colours = new Map<LineRow, Piece[]>();
  // each side is read as a whole, so that a string over several lines stays one
  for (const other of ['+', '-']) {
    const side = rows.filter(row => row.kind !== other);
    const lines = linesOf(highlight(side.map(row => row.text).join('\n'), language));
    side.forEach((row, at) => colours.set(row, lines[at] ?? []));
  }
  return colours;
}

function linesOf(pieces: Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const [text, name] of pieces) {
    text.split('\n').forEach((part, at) => {
      if (at > 0) lines.push([]);
      if (part) lines.at(-1)?.push([part, name]);
    });
  }
  return lines;
}

/** What stands beside each other: an unchanged line twice, changed ones in pairs as far as they go. */
export function paired(rows: LineRow[]): [LineRow | null, LineRow | null][] {
  const pairs: [LineRow | null, LineRow | null][] = [];
  let [removed, added]: [LineRow[], LineRow[]] = [[], []];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) pairs.push([removed[at] ?? null, added[at] ?? null]);
    [removed, added] = [[], []];
  };
  for (const row of rows) {
    if (row.kind === '-') {
      if (added.length > 0) flush();
      removed.push(row);
    } else if (row.kind === '+') added.push(row);
    else {
      flush();
      pairs.push([row, row]);
    }
  }
  flush();
  return pairs;
}
