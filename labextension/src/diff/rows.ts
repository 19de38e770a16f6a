/** The rows of a diff's table, from its edits and the new text; `docs/turn-format.md`, "A diff". */

import type { Diff, Edit } from '../types';

export interface LineRow {
  kind: ' ' | '-' | '+';
  /** 1-based line numbers; null where the line does not exist on that side. */
  old: number | null;
  new: number | null;
  text: string;
  /** Changed stretches, from and to in code points. */
  marks: [number, number][];
  /** The last line of its side, without a newline at its end. */
  noEol: boolean;
}

export interface Hunk {
  rows: LineRow[];
  /** Unchanged lines between the hunk before and this one. */
  before: LineRow[];
  oldStart: number;
  oldCount: number;
  newStart: number;
  newCount: number;
  section: string | null;
}

export interface DiffRows {
  hunks: Hunk[];
  /** Unchanged lines after the last hunk. */
  after: LineRow[];
}

export const CONTEXT = 3;

interface Side {
  /** Lines as a reader counts: nothing after the last newline is no line. */
  count: number;
  noEol: boolean;
}

function side(pieces: number, last: string): Side {
  return last === '' ? { count: pieces - 1, noEol: false } : { count: pieces, noEol: true };
}

function oldSide(newLines: string[], edits: Edit[]): Side {
  const pieces = edits.reduce((sum, edit) => sum + edit.del.length - edit.add, newLines.length);
  const last = edits.at(-1);
  const reachesEnd = last !== undefined && last.at + last.add === newLines.length;
  const piece = reachesEnd ? (last.del.at(-1) ?? newLines[last.at - 1]) : newLines.at(-1);
  return side(pieces, piece ?? '');
}

class Rows {
  readonly all: LineRow[] = [];
  private readonly lines: string[];
  private readonly oldEnd: Side;
  private readonly newEnd: Side;

  constructor(private readonly diff: Diff) {
    this.lines = newLines(diff);
    this.newEnd = side(this.lines.length, this.lines.at(-1) ?? '');
    this.oldEnd = oldSide(this.lines, diff.edits);
  }

  build(): LineRow[] {
    let shift = 0;
    let at = 0;
    for (const edit of this.diff.edits) {
      this.unchanged(at, edit.at, shift);
      edit.del.forEach((text, i) => this.line('-', edit.at + shift + i, text, marks(edit, '-', i)));
      for (let i = 0; i < edit.add; i++) this.line('+', edit.at + i, this.lines[edit.at + i] ?? '', marks(edit, '+', i));
      at = edit.at + edit.add;
      shift += edit.del.length - edit.add;
    }
    this.unchanged(at, this.lines.length, shift);
    return this.all;
  }

  private line(kind: '-' | '+', index: number, text: string, found: [number, number][]): void {
    const end = kind === '-' ? this.oldEnd : this.newEnd;
    if (index >= end.count) return;
    const number = index + 1;
    const noEol = end.noEol && number === end.count;
    this.all.push({ kind, old: kind === '-' ? number : null, new: kind === '+' ? number : null, text, marks: found, noEol });
  }

  private unchanged(from: number, to: number, shift: number): void {
    for (let i = from; i < to; i++) {
      const [inOld, inNew] = [i + shift < this.oldEnd.count, i < this.newEnd.count];
      const oldNoEol = this.oldEnd.noEol && i + shift + 1 === this.oldEnd.count;
      const newNoEol = this.newEnd.noEol && i + 1 === this.newEnd.count;
      const text = this.lines[i] ?? '';
      if (inOld && inNew && oldNoEol === newNoEol) {
        this.all.push({ kind: ' ', old: i + shift + 1, new: i + 1, text, marks: [], noEol: newNoEol });
      } else {
        // The same words, but only one of the two ends in a newline.
        this.line('-', i + shift, text, []);
        this.line('+', i, text, []);
      }
    }
  }
}

/** The new text's lines; without the ends that `line_ends` tells of. */
export function newLines({ new_text, line_ends }: Diff): string[] {
  return new_text.split(line_ends ? /\r?\n/ : '\n');
}

function marks(edit: Edit, wanted: '-' | '+', index: number): [number, number][] {
  return edit.marks.flatMap(([which, line, from, to]): [number, number][] => (which === wanted && line === index ? [[from, to]] : []));
}

function hunk(before: LineRow[], rows: LineRow[], section: string | null): Hunk {
  const olds = rows.flatMap(row => row.old ?? []);
  const news = rows.flatMap(row => row.new ?? []);
  return {
    before,
    rows,
    oldStart: olds[0] ?? 0,
    oldCount: olds.length,
    newStart: news[0] ?? 0,
    newCount: news.length,
    section
  };
}

/** Lay out `diff` with `CONTEXT` unchanged lines around each change. */
export function diffRows(diff: Diff): DiffRows {
  const all = new Rows(diff).build();
  const changed = all.flatMap((row, index) => (row.kind === ' ' ? [] : [index]));
  const hunks: Hunk[] = [];
  let done = 0;
  for (let i = 0; i < changed.length; ) {
    let j = i;
    while (j + 1 < changed.length && (changed[j + 1] as number) - (changed[j] as number) <= 2 * CONTEXT + 1) j += 1;
    const from = Math.max(done, (changed[i] as number) - CONTEXT);
    const to = Math.min(all.length, (changed[j] as number) + CONTEXT + 1);
    hunks.push(hunk(all.slice(done, from), all.slice(from, to), sectionAt(diff, all.slice(from, to))));
    done = to;
    i = j + 1;
  }
  return { hunks, after: all.slice(done) };
}

/** The section of the first edit within `rows`. */
function sectionAt(diff: Diff, rows: LineRow[]): string | null {
  const first = rows.findIndex(row => row.kind !== ' ');
  const before = rows[first - 1];
  const at = rows[first]?.kind === '+' ? (rows[first]?.new ?? 1) - 1 : (before?.new ?? 0);
  return diff.edits.find(edit => edit.at >= at)?.section ?? null;
}
