import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { coloured, paired } from '../diff/colours';
import { diffRows, type Hunk, type LineRow } from '../diff/rows';
import type { Piece } from '../markdown/highlight';
import { lastChoice, setLastChoice } from '../page';
import { plural } from '../text/format';
import { visible } from '../text/visible';
import { changedAt } from '../tool-input';
import type { Diff } from '../types';
import { useUi } from './context';
import { File } from './file';

const FIRST_ROWS = 300;
const MORE_ROWS = 1000;
/** A longer line shows its part around the first change, and the rest on demand. */
const LONG_LINE = 2000;

export function Totals({ added, removed }: { added: number; removed: number }): JSX.Element {
  return (
    <span class="acp-totals" aria-label={`${added} lines added, ${removed} removed`}>
      <span class="acp-plus">+{added}</span> <span class="acp-minus">−{removed}</span>
    </span>
  );
}

interface Props {
  diff: Diff;
  id: string;
  /** Whether the path is to be told here, since the tool call's head does not. */
  withPath: boolean;
}

type Row = { type: 'fold'; key: string; lines: LineRow[]; hunk: Hunk | null } | { type: 'line'; line: LineRow };
type Colours = Map<LineRow, Piece[]>;

/** One file's change as a table. */
export function DiffView({ diff, id, withPath }: Props): JSX.Element {
  const { hunks, after } = useMemo(() => diffRows(diff), [diff]);
  const [limit, setLimit] = useUi<number>(`rows:${id}`, FIRST_ROWS);
  const [opened, setOpened] = useUi<string>(`unfolded:${id}`, '');
  const unfolded = new Set(opened.split(' '));
  const rows = flatten(hunks, after, unfolded);
  const [split, setSplit] = useUi<boolean>(`split:${id}`, lastChoice('split') === true);
  const drawn = rows.slice(0, limit);
  const colours = useMemo(() => coloured(drawn.flatMap(row => (row.type === 'line' ? [row.line] : [])), diff.path), [diff, opened, limit]);
  const toggle = (): void => {
    setSplit(!split);
    setLastChoice('split', !split);
  };
  const left = rows.length - limit;
  const unfold = (key: string): void => setOpened(`${opened} ${key}`);
  return (
    <div class="acp-diff" data-path={diff.path}>
      {withPath ? (
        <div class="acp-diff-head">
          <File path={diff.path} line={changedAt(diff)} text={diff.path} />
          <Totals added={diff.added} removed={diff.removed} />
          {diff.is_new ? <span class="acp-pill">new file</span> : null}
        </div>
      ) : null}
      {diff.line_ends ? <div class="acp-diff-note">{lineEnds(diff.line_ends)}</div> : null}
      {hunks.length === 0 && !diff.line_ends ? <div class="acp-diff-note">{diff.is_new ? 'an empty file' : 'no change in the text'}</div> : null}
      {hunks.length > 0 && !diff.is_new ? (
        <button type="button" class="acp-more acp-split-toggle" aria-pressed={split} onClick={toggle}>side by side</button>
      ) : null}
      {hunks.length > 0 ? (
        <table class={`acp-diff-table${split ? ' acp-split' : ''}`} dir="ltr" style={{ '--acp-digits': digits(hunks) }}>
          <colgroup>
            <col class="acp-col-number" />{split ? <col /> : null}<col class="acp-col-number" />{split ? null : <col class="acp-col-sign" />}<col />
          </colgroup>
          <tbody>{split ? drawSplit(drawn, id, colours, unfold) : drawn.map((row, index) => drawRow(row, index, id, colours, unfold))}</tbody>
        </table>
      ) : null}
      {left > 0 ? (
        <button type="button" class="acp-more acp-more-rows" onClick={() => setLimit(limit + MORE_ROWS)}>
          show {Math.min(left, MORE_ROWS).toLocaleString('en-US')} more of {plural(left, 'line')}
        </button>
      ) : null}
    </div>
  );
}

function digits(hunks: Hunk[]): number {
  const last = hunks.at(-1);
  return last ? String(Math.max(last.oldStart + last.oldCount, last.newStart + last.newCount)).length : 1;
}

function flatten(hunks: Hunk[], after: LineRow[], unfolded: Set<string>): Row[] {
  const rows: Row[] = [];
  const lines = (all: LineRow[]): void => all.forEach(line => rows.push({ type: 'line', line }));
  const folded = (key: string, all: LineRow[], hunk: Hunk | null): void => {
    const open = unfolded.has(key) || all.length === 1;
    if (open) lines(all);
    if (hunk || (!open && all.length > 0)) rows.push({ type: 'fold', key, lines: open ? [] : all, hunk });
  };
  hunks.forEach((hunk, index) => {
    folded(String(index), hunk.before, hunk);
    lines(hunk.rows);
  });
  folded('end', after, null);
  return rows;
}

/** The rows side by side: what stands between two folds is paired. */
function drawSplit(rows: Row[], id: string, colours: Colours, unfold: (key: string) => void): JSX.Element[] {
  const drawn: JSX.Element[] = [];
  let lines: LineRow[] = [];
  const flush = (): void => {
    for (const [left, right] of paired(lines)) {
      drawn.push(
        <tr key={drawn.length}>
          <Half line={left} number={left?.old} id={id} colours={colours} />
          <Half line={right} number={right?.new} id={id} colours={colours} again={left === right} />
        </tr>
      );
    }
    lines = [];
  };
  for (const row of rows) {
    if (row.type === 'line') lines.push(row.line);
    else {
      flush();
      drawn.push(drawRow(row, drawn.length, id, colours, unfold));
    }
  }
  flush();
  return drawn;
}

interface HalfProps {
  line: LineRow | null;
  number: number | null | undefined;
  id: string;
  colours: Colours;
  /** Whether the other half has told it already. */
  again?: boolean;
}

function Half({ line, number, id, colours, again = false }: HalfProps): JSX.Element {
  const name = line ? CLASSES[line.kind] : 'acp-none';
  const label = line && line.kind !== ' ' ? LABELS[line.kind] : undefined;
  return (
    <>
      <td class={`acp-line-number ${name}${again ? ' acp-again' : ''}`} aria-label={label && `${label}, line ${number}`}>{number}</td>
      <td class={`acp-line ${name}${again ? ' acp-again' : ''}`}>
        {line ? <LineText line={line} id={id} colours={colours} /> : null}
        {line?.noEol ? <div class="acp-no-eol">{NO_EOL}</div> : null}
      </td>
    </>
  );
}

function drawRow(row: Row, index: number, id: string, colours: Colours, unfold: (key: string) => void): JSX.Element {
  if (row.type === 'line') return <LineView key={index} line={row.line} id={id} colours={colours} />;
  const { hunk, lines } = row;
  return (
    <tr key={`fold-${row.key}`} class="acp-hunk">
      <td colSpan={4}>
        <div class="acp-hunk-row">
          {hunk ? (
            <span>
              @@ −{hunk.oldStart},{hunk.oldCount} +{hunk.newStart},{hunk.newCount} @@{' '}
              {hunk.section === null ? null : <span class="acp-section">{draw(hunk.section, false)}</span>}
            </span>
          ) : null}
          {lines.length > 0 ? (
            <button type="button" class="acp-unfold" onClick={() => unfold(row.key)}>
              ⋯ {plural(lines.length, 'unchanged line')}
            </button>
          ) : null}
        </div>
      </td>
    </tr>
  );
}

const CLASSES = { ' ': 'acp-same', '-': 'acp-del', '+': 'acp-add' } as const;
const SIGNS = { ' ': '', '-': '−', '+': '+' } as const;
const LABELS = { ' ': undefined, '-': 'removed', '+': 'added' } as const;
const NO_EOL = 'no newline at end of file';

interface LineProps {
  line: LineRow;
  id: string;
  colours: Colours;
}

function LineView({ line, id, colours }: LineProps): JSX.Element {
  return (
    <>
      <tr class={CLASSES[line.kind]}>
        <td class="acp-line-number">{line.old}</td>
        <td class="acp-line-number">{line.new}</td>
        <td class="acp-sign" aria-label={LABELS[line.kind]}>{SIGNS[line.kind]}</td>
        <td class="acp-line"><LineText line={line} id={id} colours={colours} /></td>
      </tr>
      {line.noEol ? (
        <tr class={CLASSES[line.kind]}>
          <td colSpan={3} />
          <td class="acp-no-eol">{NO_EOL}</td>
        </tr>
      ) : null}
    </>
  );
}

function lineEnds([old, now]: [string, string]): string {
  return old === now ? `lines end with ${now}` : `line endings changed: ${old} → ${now}`;
}

function LineText({ line, id, colours }: LineProps): JSX.Element {
  // Of a text that has both ends, those of its unchanged lines are no matter.
  const text = line.kind === ' ' ? line.text.replace(/\r$/, '') : line.text;
  if (text.length > LONG_LINE) return <LongLine text={text} line={line} id={id} />;
  return <>{stretches(colours.get(line) ?? [[text, '']], text, line)}</>;
}

function LongLine({ text, line, id }: { text: string; line: LineRow; id: string }): JSX.Element {
  const [all, setAll] = useUi<boolean>(`line:${id}:${line.old}:${line.new}`, false);
  if (all) return <>{stretches([[text, '']], text, line)}</>;
  const first = line.marks[0]?.[0] ?? 0;
  const from = first > LONG_LINE - 200 ? first - 200 : 0;
  const shown = text.slice(from, from + LONG_LINE);
  const marks = line.marks.map(([a, b]): [number, number] => [Math.max(0, a - from), b - from]);
  return (
    <>
      {from > 0 ? '…' : null}
      {stretches([[shown, '']], shown, { ...line, marks })}…{' '}
      <button type="button" class="acp-more" onClick={() => setAll(true)}>show all {text.length.toLocaleString('en-US')} characters</button>
    </>
  );
}

/** A line's pieces in their colours, its marks around the stretches that changed. */
function stretches(pieces: Piece[], text: string, { marks, kind }: LineRow): ComponentChildren {
  const changed = kind !== ' ';
  // Marks count code points; a line without surrogates can be cut as it is.
  const inUnits = /[\ud800-\udfff]/.test(text) ? marks.map(([from, to]) => [units(text, from), units(text, to)] as const) : marks;
  const end = changed && marks.length === 0 ? text.trimEnd().length : text.length;
  const cuts = [...inUnits, [end, end] as const];
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [from, to] of cuts) {
    parts.push(between(pieces, at, from, changed));
    if (to > from) parts.push(<mark>{between(pieces, from, to, changed)}</mark>);
    at = to;
  }
  return [...parts, blanks(text.slice(end))];
}

function units(text: string, points: number): number {
  let at = 0;
  for (let left = points; left > 0 && at < text.length; left--) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** What of `pieces` stands between two places of their text. */
function between(pieces: Piece[], from: number, to: number, changed: boolean): ComponentChildren[] {
  let at = 0;
  return pieces.flatMap(([text, name]) => {
    const part = text.slice(Math.max(from - at, 0), Math.max(to - at, 0));
    at += text.length;
    if (!part) return [];
    return [name ? <span class={name}>{draw(part, changed)}</span> : draw(part, changed)];
  });
}

function draw(text: string, changed: boolean): ComponentChildren {
  return visible(text).map(piece => {
    if (typeof piece === 'string') return piece;
    // An indentation is no trick; a long run of blanks is worth a badge only where something changed.
    if (piece.what.startsWith('run of') && !changed) return ' '.repeat(Number(/\d+/.exec(piece.badge)?.[0] ?? 0));
    return <span class="acp-hidden" title={piece.what}>{piece.badge}</span>;
  });
}

/** Blanks at the end of a changed line, made visible. */
function blanks(text: string): ComponentChildren {
  if (text === '') return null;
  if (text === '\r') return <span class="acp-hidden" title="carriage return">CR</span>;
  return <span class="acp-blanks" title="blanks at the end of the line">{text.replace(/ /g, '·').replace(/\t/g, '→').replace(/\r/g, '␍')}</span>;
}

