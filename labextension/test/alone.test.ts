import { describe, expect, it } from 'vitest';
import { requestsOf, runningCards } from '../src/requests';
import { $, call, click, live, permission, turnOf } from './help';

const changed = call({
  content: [{ type: 'diff', path: '/a.py', new_text: 'b\n', is_new: false, added: 1, removed: 1, edits: [{ at: 0, add: 1, del: ['a'], section: null, marks: [] }] }]
});

describe('a part by itself', () => {
  it('draws a diff with its path, and nothing around it', async () => {
    const { el } = await live(turnOf([changed], { state: 'done' }), { part: 'diff' });
    expect($(el, '.acp-alone > .acp-diff').textContent).toContain('/a.py');
    expect(el.querySelector('.acp-turn, .acp-tool-call')).toBeNull();
  });

  it('draws a request with its call, and hands on the click', async () => {
    const { el, kernel } = await live(turnOf([changed], { state: 'waiting', permissions: { '1': permission() } }), { part: 'permission' });
    expect(el.querySelector('.acp-turn')).toBeNull();
    expect($(el, '.acp-tool-call .acp-add .acp-line').textContent).toBe('b');
    await click($(el, '.acp-permission button'));
    expect(kernel.received).toContainEqual({ type: 'decide', key: '1', option_id: 'once' });
    kernel.ops({ op: 'merge', path: ['permissions', '1'], value: { state: 'selected', option_id: 'once', decided_by: 'you', decided_at: 1002 } });
    await new Promise(resolve => setTimeout(resolve, 50));
    expect($(el, '.acp-decision').textContent).toContain('Allowed once by you');
  });

  it('counts the request of a turn once, however many widgets show it', async () => {
    const asking = turnOf([changed], { state: 'waiting', permissions: { '1': permission() } });
    await live(asking);
    await live({ ...asking, turn_id: `${asking.turn_id}#1` }, { part: 'permission' });
    await live({ ...asking, turn_id: `${asking.turn_id}#2` });
    expect(requestsOf(runningCards())).toHaveLength(1);
  });
});
