import { describe, expect, it } from 'vitest';
import { applyOp } from '../src/ops';
import { TurnStore } from '../src/store';
import type { Op, Turn } from '../src/types';
import { call, permission, turn, turnOf } from './help';

function apply(doc: Turn, ...ops: Op[]): (string | null)[] {
  return ops.map(op => applyOp(doc, op));
}

describe('ops', () => {
  it('merge into the document, a node, and a new node', () => {
    const doc = turnOf([call()]);
    const touched = apply(
      doc,
      { op: 'merge', path: [], value: { state: 'done' } },
      { op: 'merge', path: ['tool_calls', 't1'], value: { status: 'completed' } },
      { op: 'merge', path: ['tool_calls', 't2'], value: { ...call({ tool_call_id: 't2' }) } },
      { op: 'merge', path: ['items', 1], value: { type: 'tool_call', tool_call_id: 't2' } }
    );
    expect(touched).toEqual(['', 'tool_calls/t1', 'tool_calls/t2', 'items/1']);
    expect(doc.state).toBe('done');
    expect(doc.tool_calls.t1).toMatchObject({ status: 'completed', kind: 'other' });
    expect(doc.items).toHaveLength(2);
  });

  it('append to a text', () => {
    const doc = turn({ items: [{ type: 'message', role: 'agent', message_id: null, text: 'Hel' }] });
    apply(doc, { op: 'append', path: ['items', 0, 'text'], value: 'lo' });
    expect(doc.items[0]).toMatchObject({ text: 'Hello' });
  });

  it('ids that are names of the prototype stay plain keys', () => {
    const doc = turn();
    for (const id of ['__proto__', 'constructor', 'toString']) {
      apply(doc, { op: 'merge', path: ['tool_calls', id], value: { title: id } });
      expect(Object.hasOwn(doc.tool_calls, id)).toBe(true);
    }
    expect(({} as { title?: string }).title).toBeUndefined();
  });

  it.each([
    [{ op: 'append', path: ['items', 7, 'text'], value: 'x' }],
    [{ op: 'append', path: ['state', 'x'], value: 'x' }],
    [{ op: 'merge', path: ['items', 7], value: { type: 'message' } }],
    [{ op: 'merge', path: ['nowhere', 'x', 'y'], value: {} }],
    [{ op: 'drop', path: [], value: {} }]
  ])('refuse what does not fit: %j', op => {
    expect(() => applyOp(turn(), op as Op)).toThrow();
  });

  it('a merge of whole collections counts as a change of anything', () => {
    expect(apply(turn(), { op: 'merge', path: [], value: { items: [] } })).toEqual([null]);
    expect(apply(turn(), { op: 'merge', path: ['plans'], value: { p: { entries: [] } } })).toEqual([null]);
  });
});

describe('store', () => {
  const message = (seq: number, ...ops: Op[]) => ({ type: 'ops' as const, seq, ops });

  it('takes messages in order, ignores old ones, and sees a gap', () => {
    const store = new TurnStore(turn());
    expect(store.ops(message(1, { op: 'merge', path: [], value: { state: 'a' } }))).toBe(true);
    expect(store.ops(message(1, { op: 'merge', path: [], value: { state: 'b' } }))).toBe(true);
    expect(store.turn.state).toBe('a');
    expect(store.ops(message(3))).toBe(false);
    expect(store.ops(message(2, { op: 'append', path: ['items', 9, 'text'], value: 'x' }))).toBe(false);
    expect(store.seq).toBe(1);
  });

  it('changes the revision of what changed, and of nothing else', () => {
    const store = new TurnStore(turnOf([call(), call({ tool_call_id: 't2' })]));
    const before = ['tool_calls/t1', 'tool_calls/t2', ''].map(node => store.revision(node));
    store.ops(message(1, { op: 'merge', path: ['tool_calls', 't1'], value: { status: 'completed' } }));
    const after = ['tool_calls/t1', 'tool_calls/t2', ''].map(node => store.revision(node));
    expect(after.map((rev, i) => rev !== before[i])).toEqual([true, false, false]);
  });

  it('a call changes with its terminals and requests', () => {
    const store = new TurnStore(turnOf([call({ content: [{ type: 'terminal', terminal_id: 'x' }] })], { permissions: { '1': permission() } }));
    const revs = [store.callRevision('t1', ['1'])];
    store.ops(message(1, { op: 'merge', path: ['terminals', 'x'], value: { output: '' } }));
    revs.push(store.callRevision('t1', ['1']));
    store.send('1', 'once');
    revs.push(store.callRevision('t1', ['1']));
    expect(new Set(revs).size).toBe(3);
  });

  it('an answer is sent once, and only to an open request', () => {
    const store = new TurnStore(turnOf([call()], { permissions: { '1': permission(), '2': permission({ key: '2', state: 'cancelled' }) } }));
    expect([store.send('1', 'once'), store.send('1', 'no'), store.send('2', 'once'), store.send('9', 'once')]).toEqual([true, false, false, false]);
    store.ops(message(1, { op: 'merge', path: ['permissions', '1'], value: { state: 'selected' } }));
    expect(store.sent.size).toBe(0);
  });
});
