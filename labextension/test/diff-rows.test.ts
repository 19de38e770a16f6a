// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { diffRows, type LineRow } from '../src/diff/rows';
import type { Diff, Edit } from '../src/types';

function diff(new_text: string, edits: Partial<Edit>[], more: Partial<Diff> = {}): Diff {
  return {
    type: 'diff', path: '/p/a.py', is_new: false, new_text, added: 0, removed: 0,
    edits: edits.map(edit => ({ at: 0, add: 0, del: [], section: null, marks: [], ...edit })),
    ...more
  };
}

function lines(rows: LineRow[]): string[] {
  return rows.map(row => `${row.kind}${row.old ?? ''}:${row.new ?? ''} ${row.text}${row.noEol ? ' $' : ''}`);
}

function all(one: Diff): string[] {
  const { hunks, after } = diffRows(one);
  return lines([...hunks.flatMap(hunk => [...hunk.before, ...hunk.rows]), ...after]);
}

const ten = Array.from({ length: 20 }, (_, i) => `l${i + 1}`);

describe('diffRows', () => {
  it('a change with its context, the rest folded', () => {
    const text = `${ten.join('\n')}\n`;
    const { hunks, after } = diffRows(diff(text, [{ at: 9, add: 1, del: ['old', 'older'], section: 'def f():', marks: [['-', 0, 0, 3], ['+', 0, 1, 2]] }]));
    expect(hunks).toHaveLength(1);
    const [hunk] = hunks;
    expect(hunk).toMatchObject({ oldStart: 7, oldCount: 8, newStart: 7, newCount: 7, section: 'def f():' });
    expect(lines(hunk?.rows ?? [])).toEqual([' 7:7 l7', ' 8:8 l8', ' 9:9 l9', '-10: old', '-11: older', '+:10 l10', ' 12:11 l11', ' 13:12 l12', ' 14:13 l13']);
    expect(hunk?.rows[3]?.marks).toEqual([[0, 3]]);
    expect(hunk?.rows[5]?.marks).toEqual([[1, 2]]);
    expect(hunk?.before).toHaveLength(6);
    expect(after).toHaveLength(7);
  });

  it('changes far apart are two hunks, near ones share one', () => {
    const text = ten.join('\n');
    const at = (...places: number[]) => diffRows(diff(text, places.map(place => ({ at: place, add: 1, del: ['x'] })))).hunks;
    expect(at(2, 16)).toHaveLength(2);
    expect(at(2, 9)).toHaveLength(1);
    expect(at(2, 16)[1]).toMatchObject({ oldStart: 14, newStart: 14 });
  });

  it('a new file is all added', () => {
    expect(all(diff('a\nb\n', [{ at: 0, add: 2 }], { is_new: true }))).toEqual(['+:1 a', '+:2 b']);
    expect(all(diff('a', [{ at: 0, add: 1, del: [''] }], { is_new: true }))).toEqual(['+:1 a $']);
    expect(all(diff('', [], { is_new: true }))).toEqual([]);
  });

  it('an emptied file is all removed', () => {
    expect(all(diff('', [{ at: 0, del: ['a', 'b'] }]))).toEqual(['-1: a', '-2: b']);
  });

  it.each([
    ['the newline at the end goes', diff('a\nb', [{ at: 2, del: [''] }]), [' 1:1 a', '-2: b', '+:2 b $']],
    ['the newline at the end comes', diff('a\nb\n', [{ at: 2, add: 1 }]), [' 1:1 a', '-2: b $', '+:2 b']],
    ['lines come after a last line without newline', diff('a\nb\n', [{ at: 1, add: 2 }]), ['-1: a $', '+:1 a', '+:2 b']],
    ['neither has a newline at its end', diff('x\nb', [{ at: 0, add: 1, del: ['a'] }]), ['-1: a', '+:1 x', ' 2:2 b $']],
    ['the last line changes, with and without newline', diff('a\nc', [{ at: 1, add: 1, del: ['b', ''] }]), [' 1:1 a', '-2: b', '+:2 c $']],
    ['nothing changes', diff('a\n', []), [' 1:1 a']]
  ])('%s', (_name, one, expected) => {
    expect(all(one)).toEqual(expected);
  });

  it('D01 takes the ends of lines for no difference where the document tells of them', () => {
    const rows = diffRows(diff('a\r\nb\r\n', [{ at: 1, add: 1, del: ['c'] }], { line_ends: ['LF', 'CRLF'] })).hunks[0]?.rows;
    expect(rows?.map(row => row.kind + row.text)).toEqual([' a', '-c', '+b']);
  });

  it('rebuilds the old text from any edits', () => {
    const fresh = ['a', 'b', 'c', 'd', ''];
    const one = diff(fresh.join('\n'), [{ at: 1, add: 1, del: ['B', 'BB'] }, { at: 4, add: 0, del: ['e'] }]);
    const { hunks, after } = diffRows(one);
    const old = [...hunks.flatMap(hunk => [...hunk.before, ...hunk.rows]), ...after].filter(row => row.old !== null);
    expect(old.map(row => row.text)).toEqual(['a', 'B', 'BB', 'c', 'd', 'e']);
    expect(old.map(row => row.old)).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
