import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { setFiles } from '../src/page';
import type { ToolCall } from '../src/types';
import { workedOn } from '../src/worked-on';
import { Lab } from './lab';
import { $, call, live, saved, turnOf, type Kernel } from './help';

const [A, B] = ['/home/user/project/a.py', '/home/user/project/b.py'];
/** The page looks every 400 ms. */
const LOOK_MS = 500;

let lab: Lab;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'requestAnimationFrame', 'cancelAnimationFrame'] });
  lab = new Lab();
  lab.contents['project/a.py'] = lab.contents['project/b.py'] = { type: 'file', last_modified: 'then' };
  setFiles(lab.files());
});
afterEach(() => {
  vi.useRealTimers();
  document.body.replaceChildren();
  setFiles(undefined as never);
});

const read = (id: string, path: string, line: number | null = null): ToolCall => call({ tool_call_id: id, kind: 'read', locations: [{ path, line }] });

async function looked(): Promise<void> {
  await vi.advanceTimersByTimeAsync(LOOK_MS);
}

/** A card that runs in the notebook. */
async function running(calls: ToolCall[]): Promise<{ el: HTMLElement; kernel: Kernel }> {
  const card = live(turnOf(calls));
  await vi.advanceTimersByTimeAsync(100);
  const { el, kernel } = await card;
  lab.cells.push({ node: el });
  return { el, kernel };
}

/** One that is followed. */
async function followed(calls: ToolCall[] = [read('t1', A, 3)]): Promise<{ el: HTMLElement; kernel: Kernel }> {
  const card = await running(calls);
  $(card.el, '.acp-follow').click();
  await looked();
  return card;
}

function told(kernel: Kernel, index: number, one: ToolCall): void {
  kernel.ops(
    { op: 'merge', path: ['tool_calls', one.tool_call_id], value: { ...one } },
    { op: 'merge', path: ['items', index], value: { type: 'tool_call', tool_call_id: one.tool_call_id } }
  );
}

const opened = (): unknown[] => lab.executed.map(({ path }) => path);

describe('what is worked on', () => {
  it.each<[string, ToolCall[], [string, number | null] | null]>([
    ['the last place of the newest call', [read('1', A), call({ tool_call_id: '2', locations: [{ path: A, line: 1 }, { path: B, line: 7 }] })], [B, 7]],
    ['of a diff, its first change', [call({ content: [{ type: 'diff', path: B, is_new: false, new_text: '', edits: [{ at: 4, add: 1, del: [], section: null, marks: [] }], added: 1, removed: 0 }] })], [B, 5]],
    ['not where a command runs', [read('1', A, 2), call({ tool_call_id: '2', kind: 'execute', locations: [{ path: '/home/user/project', line: null }] })], [A, 2]],
    ['nothing, where no call names a place', [call()], null]
  ])('is %s', (_name, calls, place) => {
    const at = workedOn(turnOf(calls));
    expect(at && [at.path, at.line]).toEqual(place);
  });

  it('stands in the head while the turn runs', async () => {
    const { el, kernel } = await followed();
    expect($(el, '.acp-worked-on-file').textContent).toBe('a.py:3');
    told(kernel, 1, read('t2', B, 9));
    await vi.advanceTimersByTimeAsync(50);
    expect($(el, '.acp-worked-on-file').textContent).toBe('b.py:9');
    expect(saved(turnOf([read('t1', A)], { state: 'done', ended_at: 5 })).querySelector('.acp-worked-on')).toBeNull();
  });

  it('cannot be followed where the page has no room beside', async () => {
    setFiles(lab.files(['/home/user'], null));
    const { el } = await running([read('t1', A, 3)]);
    expect($(el, '.acp-worked-on-file').textContent).toBe('a.py:3');
    expect(el.querySelector('.acp-follow')).toBeNull();
  });
});

describe('who follows', () => {
  it('sees nothing open before they ask', async () => {
    await running([read('t1', A, 3)]);
    await looked();
    expect(lab.executed).toEqual([]);
  });

  it('sees each place without losing the focus, in one tab', async () => {
    const { kernel } = await followed();
    expect(lab.setCursorPosition).toHaveBeenLastCalledWith({ line: 2, column: 0 });
    expect(lab.setOption).toHaveBeenCalledWith('highlightActiveLine', true);
    told(kernel, 1, read('t2', B, 9));
    await looked();
    expect(opened()).toEqual(['project/a.py', 'project/b.py']);
    expect(lab.setCursorPosition).toHaveBeenLastCalledWith({ line: 8, column: 0 });
    expect(lab.close).toHaveBeenCalledExactlyOnceWith('project/a.py Editor');
    expect(lab.activateById).not.toHaveBeenCalled();
  });

  it('sees the last of what comes in a moment', async () => {
    const { kernel } = await followed();
    for (let at = 1; at < 9; at++) told(kernel, at, read(`t${at + 1}`, at % 2 ? A : B, at));
    await looked();
    expect(lab.executed).toHaveLength(2);
    expect(opened().at(-1)).toBe('project/b.py');
  });

  it.each([
    ['was open before', () => lab.documents.set('project/a.py Editor', lab.document('project/a.py Editor'))],
    ['has been changed', () => (lab.model.dirty = true)]
  ])('keeps a document that %s', async (_name, arrange) => {
    arrange();
    const { kernel } = await followed();
    told(kernel, 1, read('t2', B, 9));
    await looked();
    expect(opened()).toHaveLength(2);
    expect(lab.close).not.toHaveBeenCalled();
  });

  it('is left alone in another document, and in the tab before the notebook', async () => {
    lab.shell.currentWidget = {};
    const { kernel } = await followed();
    expect(lab.executed).toEqual([]);
    lab.shell.currentWidget = lab.panel;
    const inFront = lab.document('project/b.py Editor');
    lab.documents.set('project/b.py Editor', inFront);
    lab.inFront.push(inFront);
    told(kernel, 1, read('t2', B, 9));
    await looked();
    expect(opened()).toEqual(['project/b.py']);
    expect(lab.selectWidget).not.toHaveBeenCalled();
  });

  it('is not led out of the session’s directories, nor to what is not there', async () => {
    const { kernel } = await followed([read('t1', '/home/user/other/c.py')]);
    told(kernel, 1, read('t2', '/home/user/project/gone.py'));
    await looked();
    expect(lab.executed).toEqual([]);
    told(kernel, 2, read('t3', A, 1));
    await looked();
    expect(opened()).toEqual(['project/a.py']);
  });

  it('sees the file again when a call is over, and as the turn leaves it', async () => {
    const { kernel } = await followed();
    lab.contents['project/a.py'] = { type: 'file', last_modified: 'now' };
    kernel.ops({ op: 'merge', path: ['tool_calls', 't1'], value: { status: 'completed' } });
    await looked();
    expect(lab.revert).toHaveBeenCalledTimes(1);
    kernel.ops({ op: 'merge', path: [], value: { state: 'done', ended_at: 5 } });
    await looked();
    expect(lab.revert).toHaveBeenCalledTimes(2);
    expect(lab.setCursorPosition).toHaveBeenCalledTimes(3); // what is read anew begins at its first line
    expect(opened()).toHaveLength(2);
  });

  it('goes on to do so at the notebook’s next turn, until they ask for the opposite', async () => {
    await followed();
    const { el, kernel } = await running([read('t1', B)]);
    await looked();
    expect(opened()).toEqual(['project/a.py', 'project/b.py']);
    expect($(el, '.acp-follow').getAttribute('aria-pressed')).toBe('true');
    $(el, '.acp-follow').click();
    told(kernel, 1, read('t2', A, 9));
    await looked();
    expect($(el, '.acp-follow').getAttribute('aria-pressed')).toBe('false');
    expect(opened()).toHaveLength(2);
  });
});
