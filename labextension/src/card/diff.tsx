import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { diffRows, type Hunk, type LineRow } from '../diff/rows';
import { plural } from '../text/format';
import { visible } from '../text/visible';
import type { Diff } from '../types';
import { useUi } from './context';
import { Code } from './seen';

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

/** One file's change as a table. */
export function DiffView({ diff, id, withPath }: Props): JSX.Element {
  const { hunks, after, lineEndings } = useMemo(() => diffRows(diff), [diff]);
  const [limit, setLimit] = useUi<number>(`rows:${id}`, FIRST_ROWS);
  const [opened, setOpened] = useUi<string>(`unfolded:${id}`, '');
  const unfolded = new Set(opened.split(' '));
  const rows = flatten(hunks, after, unfolded);
  const left = rows.length - limit;
  const unfold = (key: string): void => setOpened(`${opened} ${key}`);
  return (
    <div class="acp-diff" data-path={diff.path}>
      {withPath ? (
        <div class="acp-diff-head">
          <Code text={diff.path} />
          <Totals added={diff.added} removed={diff.removed} />
          {diff.is_new ? <span class="acp-pill">new file</span> : null}
        </div>
      ) : null}
      {lineEndings ? <div class="acp-diff-note">line endings changed: {lineEndings}</div> : null}
      {hunks.length === 0 ? <div class="acp-diff-note">{diff.is_new ? 'an empty file' : 'no change in the text'}</div> : null}
      {hunks.length > 0 ? (
        <table class="acp-diff-table" dir="ltr" style={{ '--acp-digits': digits(hunks) }}>
          <colgroup><col class="acp-col-number" /><col class="acp-col-number" /><col class="acp-col-sign" /><col /></colgroup>
          <tbody>{rows.slice(0, limit).map((row, index) => drawRow(row, index, id, unfold))}</tbody>
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

function drawRow(row: Row, index: number, id: string, unfold: (key: string) => void): JSX.Element {
  if (row.type === 'line') return <LineView key={index} line={row.line} id={id} />;
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

interface LineProps {
  line: LineRow;
  id: string;
}

function LineView({ line, id }: LineProps): JSX.Element {
  return (
    <>
      <tr class={CLASSES[line.kind]}>
        <td class="acp-line-number">{line.old}</td>
        <td class="acp-line-number">{line.new}</td>
        <td class="acp-sign" aria-label={{ ' ': undefined, '-': 'removed', '+': 'added' }[line.kind]}>{SIGNS[line.kind]}</td>
        <td class="acp-line"><LineText line={line} id={id} /></td>
      </tr>
      {line.noEol ? (
        <tr class={CLASSES[line.kind]}>
          <td colSpan={3} />
          <td class="acp-no-eol">no newline at end of file</td>
        </tr>
      ) : null}
    </>
  );
}

function LineText({ line, id }: LineProps): JSX.Element {
  const changed = line.kind !== ' ';
  // A file of CRLF lines would be all badges: its line ends count only where a line changed.
  const text = changed ? line.text : line.text.replace(/\r$/, '');
  return text.length > LONG_LINE ? <LongLine text={text} line={line} id={id} /> : <>{stretches(text, line.marks, changed)}</>;
}

function LongLine({ text, line, id }: LineProps & { text: string }): JSX.Element {
  const [all, setAll] = useUi<boolean>(`line:${id}:${line.old}:${line.new}`, false);
  const changed = line.kind !== ' ';
  if (all) return <>{stretches(text, line.marks, changed)}</>;
  const first = line.marks[0]?.[0] ?? 0;
  const from = first > LONG_LINE - 200 ? first - 200 : 0;
  const shown = text.slice(from, from + LONG_LINE);
  return (
    <>
      {from > 0 ? '…' : null}
      {stretches(shown, line.marks.map(([a, b]): [number, number] => [Math.max(0, a - from), b - from]), changed)}…{' '}
      <button type="button" class="acp-more" onClick={() => setAll(true)}>show all {text.length.toLocaleString('en-US')} characters</button>
    </>
  );
}

/** A line's text, its marks around the stretches that changed. */
function stretches(text: string, marks: [number, number][], changed: boolean): ComponentChildren {
  const trailing = changed ? text.length - text.trimEnd().length : 0;
  if (marks.length === 0) return [draw(text.slice(0, text.length - trailing), changed), blanks(text.slice(text.length - trailing))];
  // Marks count code points; a line without surrogates can be cut as it is.
  const points = /[\ud800-\udfff]/.test(text) ? [...text] : null;
  const cut = (from: number, to?: number): string => (points ? points.slice(from, to).join('') : text.slice(from, to));
  const out: ComponentChildren[] = [];
  let at = 0;
  for (const [from, to] of marks) {
    out.push(draw(cut(at, from), changed), <mark>{draw(cut(from, to), changed)}</mark>);
    at = to;
  }
  return [...out, draw(cut(at), changed)];
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

