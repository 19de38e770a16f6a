import { afterEach, describe, expect, it } from 'vitest';
import { coloured, paired } from '../src/diff/colours';
import type { LineRow } from '../src/diff/rows';
import { $, call, click, saved, turn } from './help';

afterEach(() => {
  localStorage.clear();
  document.body.replaceChildren();
});

function row(kind: LineRow['kind'], text: string): LineRow {
  return { kind, old: 1, new: 1, text, marks: [], noEol: false };
}

function diffOf(newText: string, del: string[], marks: unknown[] = []) {
  const add = newText.split('\n').length - 1;
  const diff = { type: 'diff' as const, path: '/w/a.py', is_new: false, new_text: newText, edits: [{ at: 0, add, del, section: null, marks }], added: add, removed: del.length };
  return turn({ state: 'done', items: [{ type: 'tool_call', tool_call_id: 'c' }], tool_calls: { c: call({ tool_call_id: 'c', kind: 'edit', content: [diff as never] }) } });
}

describe('a diff side by side', () => {
  it('pairs what was removed with what was added, as far as it goes', () => {
    const rows = [row(' ', 'a'), row('-', 'b'), row('-', 'c'), row('+', 'B'), row('-', 'd'), row('+', 'D'), row('+', 'E')];
    expect(paired(rows).map(pair => pair.map(one => one?.text ?? ''))).toEqual([['a', 'a'], ['b', 'B'], ['c', ''], ['d', 'D'], ['', 'E']]);
  });

  it('is a choice of each diff, and the last one holds for the next', async () => {
    const el = saved(diffOf('x = 2\ny = 3\n', ['x = 1']));
    expect(el.querySelector('.acp-split')).toBeNull();
    await click($(el, '.acp-split-toggle'));
    expect($(el, '.acp-split-toggle').getAttribute('aria-pressed')).toBe('true');
    expect([...el.querySelectorAll('.acp-split tr:not(.acp-hunk)')].map(line => line.textContent)).toEqual(['1x = 11x = 2', '2y = 3']);
    const other = saved({ ...diffOf('x = 2\n', ['x = 1']), turn_id: 'another' });
    expect(other.querySelector('.acp-split')).not.toBeNull();
  });
});

describe('a diff in colours', () => {
  it('reads each side as a whole: a text over several lines stays one', () => {
    const rows = [row(' ', 's = """'), row('-', 'def f'), row('+', 'def g'), row(' ', '"""')];
    const colours = coloured(rows, '/w/a.PY');
    expect(rows.slice(1).map(one => colours.get(one))).toEqual([[['def f', 'hljs-string']], [['def g', 'hljs-string']], [['"""', 'hljs-string']]]);
    expect(coloured([row('+', 'def f')], '/w/LICENSE').values().next().value).toEqual([['def f', '']]);
  });

  it('keeps the marks, the words and what is hidden in them', () => {
    const el = saved(diffOf('def f(x): return "\u{1f600}ab\u202e" \n', ['def f(y): return "\u{1f600}ac"', ''], [['+', 0, 6, 7], ['+', 0, 20, 22], ['-', 0, 6, 7]]));
    const added = $(el, '.acp-add .acp-line');
    expect(added.textContent).toBe('def f(x): return "\u{1f600}abU+202E" ');
    expect([...added.querySelectorAll('mark')].map(mark => mark.textContent)).toEqual(['x', 'bU+202E']);
    expect($(added, '.hljs-keyword').textContent).toBe('def');
  });
});
