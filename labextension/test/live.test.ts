import { afterEach, describe, expect, it, vi } from 'vitest';
import { mountLive } from '../src/renderer';
import { $, call, click, frame, Kernel, live, permission, saved, turn, turnOf } from './help';

afterEach(() => document.body.replaceChildren());

const text = { type: 'message', role: 'agent', message_id: null, text: 'Hello' } as const;

describe('a live card', () => {
  it('says ready, draws the snapshot, and applies ops', async () => {
    const { el, kernel } = await live(turn({ items: [text] }));
    expect(kernel.received).toEqual([{ type: 'ready', seq: 0 }]);
    expect($(el, '.acp-message').textContent).toBe('Hello');
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: ', world' });
    await frame();
    expect($(el, '.acp-message').textContent).toBe('Hello, world');
    expect($(el, '.acp-turn').dataset).toMatchObject({ state: 'running', turnId: kernel.turn.turn_id });
  });

  it('says so before the kernel has answered', () => {
    const el = document.createElement('div');
    mountLive(new Kernel(turn()).model(), el);
    expect(el.textContent).toBe('Waiting for the kernel…');
    expect(el.querySelector('.acp-turn')).toBeNull();
  });

  it('asks for a resync once where messages were lost, and takes the snapshot', async () => {
    const { el, kernel } = await live(turn({ items: [text] }));
    kernel.seq += 1;
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    expect(kernel.received.filter(({ type }) => type === 'resync')).toHaveLength(1);
    kernel.turn.items = [{ ...text, text: 'All of it' }];
    kernel.snapshot();
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '.' });
    await frame();
    expect($(el, '.acp-message').textContent).toBe('All of it.');
  });

  it('two views of one turn agree, and one may go', async () => {
    const { el, kernel, dispose } = await live(turn({ items: [text] }));
    const second = document.createElement('div');
    mountLive(kernel.model(), second);
    await frame();
    expect($(second, '.acp-message').textContent).toBe('Hello'); // at once, from the page's store
    kernel.snapshot();
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    await frame();
    expect([el, second].map(one => $(one, '.acp-message').textContent)).toEqual(['Hello!', 'Hello!']);
    dispose();
    expect(el.childElementCount).toBe(0);
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: '!' });
    await frame();
    expect($(second, '.acp-message').textContent).toBe('Hello!!');
    expect(kernel.handlers.size).toBe(1);
  });

  it('draws again only what changed', async () => {
    const calls = Array.from({ length: 50 }, (_, i) => call({ tool_call_id: `t${i}`, title: `call ${i}` }));
    const { el, kernel } = await live(turnOf(calls));
    const changed = new Set<string>();
    const observer = new MutationObserver(records => {
      for (const { target } of records) {
        const element = target instanceof Element ? target : target.parentElement;
        changed.add(element?.closest<HTMLElement>('.acp-tool-call')?.dataset.toolCallId ?? element?.outerHTML.slice(0, 200) ?? '');
      }
    });
    observer.observe(el, { subtree: true, childList: true, characterData: true, attributes: true });
    kernel.ops({ op: 'merge', path: ['tool_calls', 't7'], value: { title: 'another' } });
    await frame();
    observer.disconnect();
    expect([...changed]).toEqual(['t7']);
  });

  it('a document of a newer version gives a line', async () => {
    const { el } = await live({ ...turn(), version: 2 });
    expect(el.textContent).toContain('format 2');
  });

  it('Stop cancels', async () => {
    const { el, kernel } = await live(turn());
    await click($(el, 'button.acp-stop'));
    expect(kernel.received.at(-1)).toEqual({ type: 'cancel' });
    expect($(el, '.acp-stop').textContent).toBe('Stopping…');
    kernel.ops({ op: 'merge', path: [], value: { state: 'cancelled', ended_at: 1042 } });
    await frame();
    expect(el.querySelector('.acp-stop')).toBeNull();
    expect($(el, '.acp-state').textContent).toBe('cancelled · 42 s');
  });

  it('the clock ticks by the kernel’s time', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    try {
      const { el } = await live(turn({ started_at: Date.now() / 1000 - 41 }));
      expect($(el, '.acp-elapsed').textContent).toBe('0:41');
      vi.advanceTimersByTime(1000);
      await frame();
      expect($(el, '.acp-elapsed').textContent).toBe('0:42');
    } finally {
      vi.useRealTimers();
    }
  });

  it('what is open stays open in the saved card', async () => {
    const doc = turnOf([call({ raw_input: '{"a":1}' })]);
    const { el, dispose } = await live(doc);
    await click($(el, '[role=tab]'));
    dispose();
    expect($(saved({ ...doc, state: 'done', ended_at: 1 }), '[role=tabpanel]').textContent).toContain('"a": 1');
  });

  it('never takes the focus by itself', async () => {
    const { kernel } = await live(turnOf([call()], { state: 'waiting', permissions: { '1': permission() } }));
    kernel.ops({ op: 'merge', path: ['permissions', '2'], value: { ...permission({ key: '2' }) } });
    await frame();
    expect(document.activeElement).toBe(document.body);
  });
});
