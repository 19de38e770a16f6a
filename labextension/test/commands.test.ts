import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { BOX_REST_MS } from '../src/card/rest-ms';
import { Hand } from '../src/commands';
import { statusWords } from '../src/requests';
import { $, call, elicitation, frame, live, pass, permission, turnOf, type Kernel } from './help';

/** What lies over everything; jsdom has no layout. */
let above: Element | null = null;

beforeEach(() => {
  above = null;
  document.body.replaceChildren();
  Element.prototype.scrollIntoView = vi.fn();
  const rect = { left: 0, top: 0, width: 10, height: 10 } as DOMRect;
  vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(rect);
});

/** All that is asked is seen: what is looked at is what stands there, unless something lies above. */
function seeing(el: Element): void {
  document.elementFromPoint = () => above ?? el.querySelector('.acp-options button[data-looked]') ?? el.querySelector('.acp-options');
}

function look(el: Element, kind: string): void {
  el.querySelectorAll('[data-looked]').forEach(one => one.removeAttribute('data-looked'));
  el.querySelector(`button[data-kind=${kind}]`)?.setAttribute('data-looked', '');
}

function panelOf(id: string, cells: HTMLElement[]): NotebookPanel {
  return {
    id,
    node: document.body,
    title: { label: `${id}.ipynb` },
    content: { model: null, widgets: cells.map(node => ({ node })), activeCellIndex: 0, scrollToItem: vi.fn(async () => undefined) }
  } as unknown as NotebookPanel;
}

function trackerOf(current: NotebookPanel, others: NotebookPanel[] = []): INotebookTracker {
  return { currentWidget: current, widgetAdded: { connect: () => undefined }, forEach: visit => [current, ...others].forEach(visit) };
}

const waiting = () => turnOf([call()], { state: 'waiting', permissions: { '1': permission() } });
const decided = (kernel: Kernel): unknown[] => kernel.received.filter(({ type }) => type === 'decide');

async function one(doc = waiting()) {
  const { el, kernel } = await live(doc);
  const activateById = vi.fn();
  const hand = new Hand({ shell: { activateById } }, trackerOf(panelOf('a', [el])));
  seeing(el);
  look(el, 'allow_once');
  const answer = async (kind = 'allow_once'): Promise<void> => {
    look(el, kind);
    await hand.answer(kind);
    await frame();
  };
  return { el, kernel, hand, answer, activateById };
}

describe('an answer by command', () => {
  it('shows first, and is given when what was shown has rested', async () => {
    const { el, kernel, answer } = await one();
    await answer();
    expect(document.activeElement).toBe($(el, '.acp-permission'));
    await answer();
    expect(decided(kernel)).toEqual([]);
    pass(BOX_REST_MS);
    await answer();
    await answer();
    expect(decided(kernel)).toEqual([{ type: 'decide', key: '1', option_id: 'once' }]);
  });

  it('is given at once to a request that a person has focused', async () => {
    const { el, kernel, answer } = await one();
    $(el, '.acp-permission').focus();
    await answer('reject_once');
    expect(decided(kernel)).toEqual([{ type: 'decide', key: '1', option_id: 'no' }]);
  });

  it('is not given while something lies over the button', async () => {
    const { el, kernel, answer } = await one();
    $(el, '.acp-permission').focus();
    above = document.body;
    await answer();
    above = null;
    await answer();
    expect(decided(kernel)).toEqual([]);
  });

  it('is not given by a key that is held down', async () => {
    const { el, kernel, answer } = await one();
    $(el, '.acp-permission').focus();
    window.dispatchEvent(new KeyboardEvent('keydown', { repeat: true }));
    await answer();
    expect(decided(kernel)).toEqual([]);
    window.dispatchEvent(new KeyboardEvent('keydown'));
    await answer();
    expect(decided(kernel)).toHaveLength(1);
  });

  it('takes no other option where the agent does not offer that one', async () => {
    const options = [{ option_id: 'always', name: 'Allow once', kind: 'allow_always' }];
    const { el, kernel, answer } = await one(turnOf([call()], { permissions: { '1': permission({ options }) } }));
    $(el, '.acp-permission').focus();
    await answer();
    pass(BOX_REST_MS);
    await answer();
    expect(decided(kernel)).toEqual([]);
  });

  it('goes to another notebook only to show what waits there', async () => {
    const { el, kernel } = await live(waiting());
    const [here, there] = [panelOf('here', []), panelOf('there', [document.createElement('div'), el])];
    const activateById = vi.fn();
    const tracker = trackerOf(here, [there]);
    const hand = new Hand({ shell: { activateById } }, tracker);
    seeing(el);
    look(el, 'allow_once');
    await hand.answer('allow_once');
    expect(activateById).toHaveBeenCalledWith('there');
    expect(there.content.activeCellIndex).toBe(1);
    (document.activeElement as HTMLElement).blur();
    pass(BOX_REST_MS);
    await hand.answer('allow_once'); // the other notebook never came to the front
    expect(decided(kernel)).toEqual([]);
  });
});

describe('the other commands', () => {
  it('next goes through all that waits, forms too, and begins anew', async () => {
    const doc = turnOf([call()], {
      items: [{ type: 'tool_call', tool_call_id: 't1' }, { type: 'elicitation', key: 'e1' }],
      permissions: { '1': permission() },
      elicitations: { e1: elicitation({ opened_at: 1002 }) }
    });
    const { hand } = await one(doc);
    const keys: unknown[] = [];
    for (let times = 0; times < 3; times++) {
      await hand.next();
      keys.push((document.activeElement as HTMLElement).dataset['key']);
    }
    expect(keys).toEqual(['1', 'e1', '1']);
  });

  it('stop ends the only turn that runs; of two, the one that has the focus', async () => {
    const [first, second] = [await live(turnOf([])), await live(turnOf([]))];
    const hand = new Hand({ shell: { activateById: vi.fn() } }, trackerOf(panelOf('a', [first.el, second.el])));
    hand.stop();
    expect(document.activeElement).toBe($(first.el, '.acp-stop'));
    $(second.el, '.acp-stop').focus();
    hand.stop();
    second.dispose();
    (document.activeElement as HTMLElement).blur();
    const stops = (kernel: Kernel): number => kernel.received.filter(({ type }) => type === 'cancel').length;
    expect([stops(first.kernel), stops(second.kernel)]).toEqual([0, 1]);
    hand.stop();
    expect(stops(first.kernel)).toBe(1);
  });

  it('nothing waits on a card whose kernel is gone, or whose turn is over', async () => {
    const { kernel, hand } = await one();
    expect(hand.waiting).toHaveLength(1);
    kernel.ops({ op: 'merge', path: [], value: { state: 'cancelled', ended_at: 5 } });
    expect(hand.waiting).toEqual([]);
    const other = await one();
    other.kernel.die();
    expect(other.hand.waiting).toEqual([]);
  });
});

it('the status bar has one word for each state', () => {
  expect([statusWords(0, 0), statusWords(1, 0), statusWords(1, 1), statusWords(2, 3)]).toEqual([
    'ACP: idle',
    'ACP: running',
    'ACP: waiting for you',
    'ACP: 3 wait for you'
  ]);
});
