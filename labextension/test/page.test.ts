import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setNotebooks } from '../src/page';
import { mountLive, mountSaved } from '../src/renderer';
import { $, call, click, frame, Kernel, live, permission, terminal, turn, turnOf } from './help';

beforeEach(() => {
  document.body.innerHTML =
    '<div class="jp-Notebook"><div class="jp-Cell"><div class="jp-OutputArea-child"><div class="jp-OutputArea-output"></div></div></div></div>';
});

afterEach(() => {
  document.body.replaceChildren();
  vi.useRealTimers();
});

const host = (): HTMLElement => $(document.body, '.jp-OutputArea-output');
const text = { type: 'message', role: 'agent', message_id: null, text: 'Hello' } as const;

/** A live view in a notebook's output, as the widget manager puts it there. */
async function inNotebook(kernel: Kernel): Promise<{ el: HTMLElement; dispose: () => void }> {
  const el = document.createElement('div');
  const dispose = mountLive(kernel.model(), el);
  host().append(el);
  kernel.snapshot();
  await frame();
  await frame();
  return { el, dispose };
}

describe('an output that is written anew in mid-turn', () => {
  it('draws the new view at once, from what the page knows, and the old one goes', async () => {
    const kernel = new Kernel(turn({ items: [text] }));
    const first = await inNotebook(kernel);
    kernel.received.length = 0;
    host().textContent = 'Loading widget...';
    const second = document.createElement('div');
    mountLive(kernel.model(), second);
    expect($(second, '.acp-message').textContent).toBe('Hello');
    host().textContent = '';
    host().append(second);
    expect(kernel.received).toEqual([{ type: 'ready', seq: 0 }]);
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    await frame();
    expect(first.el.childElementCount).toBe(0);
    expect(kernel.handlers.size).toBe(1);
    expect($(second, '.acp-message').textContent).toBe('Hello!');
    await new Promise(resolve => setTimeout(resolve, 5));
    expect(kernel.received.map(({ type }) => type)).not.toContain('cleared');
  });

  it('says up to where it has everything', async () => {
    const kernel = new Kernel(turn({ items: [text] }));
    await inNotebook(kernel);
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    mountLive(kernel.model(), document.createElement('div'));
    expect(kernel.received.at(-1)).toEqual({ type: 'ready', seq: 1 });
  });

  it('a cell that is out of sight for a while keeps its view', async () => {
    const kernel = new Kernel(turn({ items: [text] }));
    const { el } = await inNotebook(kernel);
    const cell = $(document.body, '.jp-Cell');
    cell.remove();
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    await frame();
    $(document.body, '.jp-Notebook').append(cell);
    expect($(el, '.acp-message').textContent).toBe('Hello!');
  });
});

describe('a view that goes away, without the extension', () => {
  const settle = (): void => {
    vi.advanceTimersByTime(3000);
  };
  const cleared = (kernel: Kernel): number => kernel.received.filter(({ type }) => type === 'cleared').length;
  const goes = (dispose: () => void): void => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    dispose();
  };

  it('says so where the output was cleared', async () => {
    const kernel = new Kernel(turn({ items: [text] }));
    const { dispose } = await inNotebook(kernel);
    $(document.body, '.jp-OutputArea-child').remove();
    goes(dispose);
    dispose();
    settle();
    expect(cleared(kernel)).toBe(1);
  });

  it.each(['stands', 'went too'])('looks whether another one stands in the end, that knows nothing yet; it %s', async how => {
    const kernel = new Kernel(turn({ items: [text] }));
    const { dispose } = await inNotebook(kernel);
    $(document.body, '.jp-OutputArea-child').remove();
    goes(dispose);
    const next = mountLive(kernel.model(), document.createElement('div'));
    if (how === 'went too') next();
    settle();
    expect(cleared(kernel)).toBe(how === 'stands' ? 0 : 1);
  });

  it.each([
    ['the notebook was closed', () => $(document.body, '.jp-Notebook').remove(), turn()],
    ['only its view went', () => undefined, turn()],
    ['the turn is over', () => $(document.body, '.jp-OutputArea-child').remove(), turn({ state: 'done', ended_at: 2 })]
  ])('says nothing where %s', async (_why, go, doc) => {
    const kernel = new Kernel(doc);
    const { dispose } = await inNotebook(kernel);
    go();
    goes(dispose);
    settle();
    expect(cleared(kernel)).toBe(0);
  });
});

describe('a kernel that goes away', () => {
  it('is said, and nothing can be clicked any more', async () => {
    const doc = turnOf([call()], { state: 'waiting', permissions: { '1': permission() } });
    const { el, kernel } = await live(doc);
    expect(el.querySelectorAll('button.acp-option')).toHaveLength(3);
    kernel.die();
    await frame();
    expect($(el, '.acp-state').textContent).toContain('the kernel is gone');
    expect(el.querySelectorAll('button.acp-option, .acp-stop, .acp-elapsed')).toHaveLength(0);
    kernel.snapshot();
    await frame();
    expect($(el, '.acp-state').textContent).toContain('waiting for your approval');
  });
});

describe('a page that was reloaded in mid-turn', () => {
  it.each([true, false])('asks for the finished turn where a notebook still shows the live view: %s', async holds => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const written: unknown[] = [];
    setNotebooks({ hold: () => holds, behind: () => false, write: (...what) => void written.push(what) });
    const kernel = new Kernel(turn({ items: [text] }));
    mountLive(kernel.model(), document.createElement('div'));
    kernel.snapshot();
    vi.advanceTimersByTime(3000);
    expect(kernel.received.map(({ type }) => type)).not.toContain('bundle');
    kernel.ops({ op: 'merge', path: [], value: { state: 'done', ended_at: 3 } });
    vi.advanceTimersByTime(3000);
    expect(kernel.received.filter(({ type }) => type === 'bundle')).toHaveLength(holds ? 1 : 0);
    kernel.tell({ type: 'bundle', data: { 'text/plain': 'whole' } });
    expect(written).toEqual([[kernel.turn.turn_id, { 'text/plain': 'whole' }]]);
  });
});

describe('a page where the kernel’s updates do not arrive', () => {
  it('asks once for what the notebook is to hold, and writes it each time', async () => {
    const written: unknown[] = [];
    setNotebooks({ hold: () => false, behind: () => true, write: (...what) => void written.push(what) });
    const kernel = new Kernel(turn({ items: [text] }));
    const { dispose } = await inNotebook(kernel);
    for (const state of ['so far', 'more']) kernel.tell({ type: 'bundle', data: { 'text/plain': state } });
    dispose(); // the output is drawn anew
    await inNotebook(kernel);
    expect(kernel.received.filter(({ type }) => type === 'bundle')).toHaveLength(1);
    expect(written).toEqual(['so far', 'more'].map(state => [kernel.turn.turn_id, { 'text/plain': state }]));
  });
});

describe('what is kept from the live card to the saved one', () => {
  it('the place in a box, and the focus', async () => {
    const doc = turnOf([call({ kind: 'execute', content: [{ type: 'terminal', terminal_id: 'x1' }] })], {
      terminals: { x1: terminal({ output: 'one\ntwo\n', exit_code: 1, ended_at: 2 }) }
    });
    const kernel = new Kernel(doc);
    const { el, dispose } = await inNotebook(kernel);
    const box = $(el, '.acp-terminal-box');
    box.scrollTop = 7;
    box.dispatchEvent(new Event('scroll'));
    box.focus();
    host().replaceChildren();
    dispose();
    expect(document.activeElement).toBe(document.body);
    const saved = document.createElement('div');
    host().append(saved);
    mountSaved({ ...doc, state: 'done', ended_at: 3 }, saved);
    await frame();
    expect($(saved, '.acp-terminal-box').scrollTop).toBe(7);
    expect(document.activeElement).toBe($(saved, '.acp-terminal-box'));
  });

  it.each([true, false])('the end, for who has followed it; what comes with the end is drawn by the live card: %s', async drawn => {
    const heights = vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockReturnValue(100);
    const kernel = new Kernel(turn({ items: [text] }));
    const { el } = await inNotebook(kernel);
    expect($(el, '.acp-body').scrollTop).toBe(100);
    heights.mockReturnValue(300);
    if (drawn) {
      kernel.ops({ op: 'merge', path: [], value: { state: 'done', ended_at: 3 } });
      await frame();
      expect($(el, '.acp-body').scrollTop).toBe(300);
      $(el, '.acp-body').scrollTop = 40; // a reader goes back
      $(el, '.acp-body').dispatchEvent(new Event('scroll'));
    }
    host().replaceChildren();
    const saved = document.createElement('div');
    host().append(saved);
    mountSaved({ ...kernel.turn, state: 'done', ended_at: 3 }, saved);
    await frame();
    expect($(saved, '.acp-body').scrollTop).toBe(drawn ? 40 : 300);
    heights.mockRestore();
  });

  it('what was opened within raw values, and how far they were scrolled', async () => {
    const doc = turnOf([call({ raw_input: JSON.stringify({ deep: { deeper: 1 }, long: `${'x'.repeat(3000)}end` }) })]);
    const kernel = new Kernel(doc);
    const { el, dispose } = await inNotebook(kernel);
    await click($(el, '[role=tab]'));
    await click($(el, '.acp-json [aria-expanded=false]'));
    await click($(el, '.acp-json .acp-more'));
    const tree = $(el, '.acp-json');
    tree.scrollTop = 9;
    tree.dispatchEvent(new Event('scroll'));
    const words = tree.textContent;
    expect(words).toContain('deeper');
    expect(words).toContain('xend');
    dispose();
    const saved = document.createElement('div');
    host().replaceChildren(saved);
    mountSaved({ ...doc, state: 'done', ended_at: 3 }, saved);
    await frame();
    expect($(saved, '.acp-json').textContent).toBe(words);
    expect($(saved, '.acp-json').scrollTop).toBe(9);
  });

  it('a long line of a diff that was shown whole', async () => {
    const edits = [{ at: 0, add: 1, del: [`${'x'.repeat(3000)}old`], section: null, marks: [] }];
    const diff = { type: 'diff', path: '/p/a', is_new: false, new_text: `${'x'.repeat(3000)}new`, edits, added: 1, removed: 1 } as const;
    const doc = turnOf([call({ kind: 'edit', content: [diff] })]);
    const { el, dispose } = await inNotebook(new Kernel(doc));
    await click($(el, '.acp-add .acp-more'));
    dispose();
    const saved = document.createElement('div');
    host().replaceChildren(saved);
    mountSaved({ ...doc, state: 'done', ended_at: 3 }, saved);
    expect($(saved, '.acp-add').textContent).toContain('xnew');
    expect($(saved, '.acp-del').textContent).not.toContain('xold');
  });

  it('the focus stays where somebody has put it meanwhile', async () => {
    const kernel = new Kernel(turn({ items: [text] }));
    const { el, dispose } = await inNotebook(kernel);
    $(el, 'button').focus();
    host().replaceChildren();
    dispose();
    const other = document.body.appendChild(document.createElement('input'));
    other.focus();
    const saved = document.createElement('div');
    host().append(saved);
    mountSaved({ ...kernel.turn, state: 'done', ended_at: 3 }, saved);
    await frame();
    expect(document.activeElement).toBe(other);
  });
});

describe('changes of mode and options', () => {
  it('say who made them', async () => {
    const items = [
      { type: 'mode', id: 'plan', name: 'Plan', by: 'you' },
      { type: 'option', id: 'm', name: 'Model', value: 'Large', by: 'agent' }
    ] as const;
    const { el } = await live(turn({ items: [...items] }));
    const said = [...el.querySelectorAll('.acp-mode-change')].map(one => one.textContent);
    expect(said).toEqual(['The agent’s mode is now Plan, set by you', 'Model is now Large, changed by the agent itself']);
  });
});
