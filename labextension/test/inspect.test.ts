import { afterEach, describe, expect, it, vi } from 'vitest';
import { findIn, jsonText, nodeAt, stepsOf } from '../src/json/inspect';
import { parseJson } from '../src/json/parse';
import { $, call, click, frame, live, saved, terminal, turn } from './help';

afterEach(() => document.body.replaceChildren());

const INPUT = { command: 'make test', 'a"b\u202e': [1, { deep: 'Needle' }], big: 0 };
const RAW = JSON.stringify(INPUT).replace('"big":0', '"big":12345678901234567890123');

function withCall(fields: Parameters<typeof call>[0]) {
  return turn({ state: 'done', items: [{ type: 'tool_call', tool_call_id: 'c1' }], tool_calls: { c1: call({ tool_call_id: 'c1', ...fields }) } });
}

describe('ways into a JSON tree', () => {
  const root = parseJson(RAW);

  it('each value has the Python subscripts that lead to it, and its own text', () => {
    expect(stepsOf(root).map(([step]) => step)).toEqual(['["command"]', '["a\\"b\\u202e"]', '["big"]']);
    expect(jsonText(nodeAt(root, '["a\\"b\\u202e"][1]["deep"]'))).toBe('"Needle"');
    expect(jsonText(nodeAt(root, '["big"]'))).toBe('12345678901234567890123');
    expect(jsonText(root)).toBe(RAW);
  });

  it('finds in keys and values, in any case', () => {
    expect(findIn(root, 'needle', 10).shown.map(([path]) => path)).toEqual(['["a\\"b\\u202e"][1]["deep"]']);
    expect(findIn(root, 'COMMAND', 10).count).toBe(1);
    expect(findIn(parseJson(JSON.stringify(Array(500).fill('x'))), 'x', 3)).toMatchObject({ count: 500, shown: { length: 3 } });
  });

  it('behind a gap it counts from the end', () => {
    const array = { ...parseJson('["a","b","y","z"]'), gap: { at: 2, count: 90 } } as never;
    expect(stepsOf(array).map(([step]) => step)).toEqual(['[0]', '[1]', '[-2]', '[-1]']);
  });
});

describe('the inspector', () => {
  it('shows the expression of what has the focus, filters, and copies', async () => {
    const written = vi.fn(async () => undefined);
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: written } });
    const el = saved(withCall({ raw_input: RAW }));
    await click($(el, '[role=tab]'));
    $(el, '[data-path=\'["command"]\']').click();
    await frame();
    expect($(el, '.acp-expression').textContent).toBe('turn.tool_calls[0].raw_input["command"]');
    await click($(el, '.acp-expression'));
    expect(written).toHaveBeenLastCalledWith('turn.tool_calls[0].raw_input["command"]');
    await click($(el, '.acp-inspect .acp-more'));
    expect(written).toHaveBeenLastCalledWith('"make test"');
    const find = $(el, '.acp-inspect input') as HTMLInputElement;
    find.value = 'needle';
    find.dispatchEvent(new Event('input', { bubbles: true }));
    await frame();
    expect($(el, '.acp-inspect [role=status]').textContent).toBe('1 hit');
    expect($(el, '.acp-json').textContent).toContain('[1]["deep"]: "Needle"');
    vi.unstubAllGlobals();
  });

  it('arrows go from row to row, open and close', async () => {
    const el = saved(withCall({ raw_input: RAW }));
    await click($(el, '[role=tab]'));
    const press = async (key: string): Promise<void> => {
      (document.activeElement ?? el).dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      await frame();
    };
    document.body.append(el);
    $(el, '.acp-inspect input').focus();
    await press('ArrowDown');
    await press('ArrowDown');
    await press('ArrowDown');
    expect((document.activeElement as HTMLElement).getAttribute('aria-expanded')).toBe('false');
    await press('ArrowRight');
    expect((document.activeElement as HTMLElement).getAttribute('aria-expanded')).toBe('true');
    await press('ArrowLeft');
    expect((document.activeElement as HTMLElement).getAttribute('aria-expanded')).toBe('false');
  });
});

describe('a call’s updates', () => {
  it('are in the saved card, with what is missing between them', async () => {
    const el = saved(withCall({ updates: ['{"title":"A"}', '{"status":"completed"}'], updates_count: 1_002 }));
    const tab = [...el.querySelectorAll<HTMLElement>('[role=tab]')].at(-1) as HTMLElement;
    expect(tab.textContent).toBe('Updates (1,002)');
    await click(tab);
    expect($(el, '.acp-expression').textContent).toBe('turn.tool_calls[0].updates');
    expect($(el, '.acp-json').textContent).toContain('… 1,000 more are not here');
  });

  it('are asked of the kernel by a live card that shows them', async () => {
    const { el, kernel } = await live({ ...withCall({ updates_count: 1 }), state: 'running', ended_at: null });
    await click([...el.querySelectorAll<HTMLElement>('[role=tab]')].at(-1) as HTMLElement);
    await vi.waitFor(() => expect(kernel.received).toContainEqual({ type: 'updates', tool_call_id: 'c1' }));
    kernel.tell({ type: 'updates', tool_call_id: 'c1', updates: ['{"title":"A"}'], updates_count: 1 });
    await frame();
    await click($(el, '.acp-json-toggle[aria-expanded=false]'));
    expect($(el, '.acp-json').textContent).toContain('"title": "A"');
  });
});

describe('a command of ours', () => {
  const shows = { items: [{ type: 'terminal' as const, terminal_id: 't1' }], state: 'running', ended_at: null };

  it('can be stopped alone while it runs', async () => {
    const { el, kernel } = await live(turn({ ...shows, terminals: { t1: terminal({ terminal_id: 't1', exit_code: null, ended_at: null }) } }));
    await click($(el, '.acp-stop-terminal'));
    expect(kernel.received).toContainEqual({ type: 'stop_terminal', terminal_id: 't1' });
    expect($(el, '.acp-stop-terminal').textContent).toBe('stopping…');
  });

  it.each([{ agent_owned: true, exit_code: null }, { exit_code: 0 }, { released: true, exit_code: null }])('%j has no such button', async fields => {
    const { el } = await live(turn({ ...shows, terminals: { t1: terminal(fields) } }));
    expect(el.querySelector('.acp-stop-terminal')).toBeNull();
  });

  it('links lead to the web only, and say where', () => {
    const output = 'see https://example.org/a. \x1b]8;;https://evil.test/\x07good.test\x1b]8;;\x07 \x1b]8;;javascript:alert(1)\x07x\x1b]8;;\x07\n';
    const el = saved(turn({ ...shows, state: 'done', terminals: { t1: terminal({ output, exit_code: 1 }) } }));
    const links = [...el.querySelectorAll('.acp-terminal-box a')].map(link => link.getAttribute('href'));
    expect(links).toEqual(['https://example.org/a', 'https://evil.test/']);
    expect($(el, '.acp-terminal-box').textContent).toContain('good.test (https://evil.test/)');
  });
});
