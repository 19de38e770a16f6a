import type { INotebookTracker, NotebookPanel, Output } from '@jupyterlab/notebook';
import { describe, expect, it } from 'vitest';
import { endInput } from '../src/input';
import { keepCards, lookAfter, notebooksOf, showSaved } from '../src/notebooks';
import { setRunning } from '../src/page';
import { MIME } from '../src/types';

const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';
type Bundle = Record<string, unknown>;

class Signal<Args> {
  private readonly slots: ((sender: unknown, args: Args) => void)[] = [];
  connect(slot: (sender: unknown, args: Args) => void): void {
    this.slots.push(slot);
  }
  emit(args: Args): void {
    for (const slot of this.slots) slot(this, args);
  }
}

/** The outputs of a cell, as JupyterLab's model keeps them. */
class Outputs {
  readonly changed = new Signal<{ type: string }>();
  constructor(public list: Output[] = []) {}
  get length(): number {
    return this.list.length;
  }
  get(index: number): Output {
    return this.list[index] as Output;
  }
  set(index: number, value: Output): void {
    this.list[index] = value;
    this.changed.emit({ type: 'set' });
  }
  add(value: Output): void {
    this.list.push(value);
    this.changed.emit({ type: 'add' });
  }
  clear(): void {
    this.list = [];
    this.changed.emit({ type: 'clear' });
  }
  get bundles(): Bundle[] {
    return this.list.map(({ data }) => data);
  }
}

const view = (turnId: string, more: Bundle = {}): Bundle => ({
  [WIDGET_MIME]: { model_id: `m-${turnId}`, turn_id: turnId },
  'text/plain': 'so far',
  ...more
});

const output = (data: Bundle): Output => ({ data, metadata: {} });

/** A notebook of these cells, whose kernel has the widgets `comms`; null: it has no kernel. */
function notebook(cells: Outputs[], comms: string[] | null = []) {
  const changed = new Signal<unknown>();
  const kernelChanged = new Signal<unknown>();
  const kernel = comms && {
    requestCommInfo: async () => ({ content: { comms: Object.fromEntries(comms.map(id => [id, {}])) } })
  };
  const list = {
    changed,
    get length() {
      return cells.length;
    },
    get: (at: number) => ({ outputs: cells[at] })
  };
  const sessionContext = { session: { kernel }, kernelChanged, ready: Promise.resolve() };
  const panel = { content: { model: { cells: list }, widgets: [] }, context: { ready: Promise.resolve() }, sessionContext };
  return { panel: panel as unknown as NotebookPanel, changed, kernelChanged };
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

function running(turnId = `t${Math.random()}`): string {
  setRunning(turnId, true);
  return turnId;
}

describe('the card of a turn that runs', () => {
  it('is put back, once, when its output is cleared, however often', async () => {
    const id = running();
    const cell = new Outputs([output(view(id))]);
    keepCards(notebook([cell]).panel);
    for (let times = 0; times < 3; times++) {
      cell.clear();
      cell.clear();
      await settled();
      expect(cell.bundles).toEqual([view(id)]);
    }
  });

  it('is put back as it stood last', async () => {
    const id = running();
    const cell = new Outputs();
    keepCards(notebook([cell]).panel);
    cell.add(output(view(id)));
    cell.set(0, output(view(id, { 'text/plain': 'more' })));
    cell.clear();
    await settled();
    expect(cell.bundles).toEqual([view(id, { 'text/plain': 'more' })]);
  });

  it('is put back in a cell that came later', async () => {
    const id = running();
    const cells = [new Outputs()];
    const { panel, changed } = notebook(cells);
    keepCards(panel);
    const moved = new Outputs([output(view(id))]);
    cells.push(moved);
    changed.emit(undefined);
    const found = notebooksOf({ currentWidget: null, forEach: visit => visit(panel), widgetAdded: new Signal() } as INotebookTracker);
    expect(found.behind(id)).toBe(true);
    moved.clear();
    await settled();
    expect(moved.bundles).toEqual([view(id)]);
  });

  it.each<[string, (cell: Outputs, cells: Outputs[], id: string) => void]>([
    ['the turn is over', (cell, _cells, id) => (setRunning(id, false), cell.clear())],
    ['it stands elsewhere', (cell, cells, id) => (cells.push(new Outputs([output(view(id))])), cell.clear())],
    ['its cell was deleted', (cell, cells) => (cells.splice(0), cell.clear())],
    ['the kernel has written the saved turn', cell => cell.set(0, output({ 'text/plain': 'done' }))]
  ])('is not put back where %s', async (_why, act) => {
    const id = running();
    const cell = new Outputs([output(view(id))]);
    const cells = [cell];
    keepCards(notebook(cells).panel);
    act(cell, cells, id);
    await settled();
    expect(cell.bundles.some(bundle => WIDGET_MIME in bundle)).toBe(false);
  });
});

describe('a notebook that was saved in mid-turn', () => {
  const document = { [MIME]: { turn_id: 'a' }, 'text/html': '<p>so far</p>' };

  it.each([[[]], [['another']], [null]])('shows what was saved where the kernel has %j', async comms => {
    const cell = new Outputs([output(view('a', document))]);
    await lookAfter(notebook([cell], comms).panel);
    expect(cell.bundles).toEqual([{ ...document, 'text/plain': 'so far' }]);
  });

  it('shows the text where nothing else was kept', async () => {
    const cell = new Outputs([output(view('a'))]);
    await showSaved(notebook([cell]).panel);
    expect(cell.bundles).toEqual([{ 'text/plain': 'so far' }]);
  });

  it('shows it when it gets another kernel', async () => {
    const cell = new Outputs([output(view('a', document))]);
    const comms = ['m-a'];
    const { panel, kernelChanged } = notebook([cell], comms);
    await lookAfter(panel);
    expect(cell.bundles).toEqual([view('a', document)]);
    comms.splice(0);
    kernelChanged.emit({ newValue: null });
    await settled();
    expect(cell.bundles).toEqual([view('a', document)]);
    kernelChanged.emit({ newValue: {} });
    await settled();
    expect(cell.bundles[0]).not.toHaveProperty([WIDGET_MIME]);
  });

  it.each([
    ['a live card, whose widget the kernel has', view('b', document), ['m-b']],
    ['widgets that are not ours', { [WIDGET_MIME]: { model_id: 'x' }, 'text/plain': 'Slider' }, []]
  ])('leaves %s alone', async (_what, bundle, comms) => {
    const cell = new Outputs([output(bundle)]);
    await showSaved(notebook([cell], comms).panel);
    expect(cell.bundles).toEqual([bundle]);
  });

  it('leaves a card alone that came while the kernel was asked', async () => {
    const cell = new Outputs([output(view('a'))]);
    const shown = showSaved(notebook([cell]).panel);
    cell.add(output(view('new')));
    await shown;
    expect(cell.bundles).toEqual([{ 'text/plain': 'so far' }, view('new')]);
  });
});

describe('a turn that runs', () => {
  const tracker = (panel: NotebookPanel) => ({ currentWidget: null, forEach: visit => visit(panel), widgetAdded: new Signal() }) as INotebookTracker;

  it.each(['after a reload', 'put back'])('is written anew by a page that the kernel’s updates do not reach: %s', async why => {
    const id = running();
    const cell = new Outputs(why === 'put back' ? [] : [output(view(id))]);
    const { panel } = notebook([cell], [`m-${id}`]);
    const found = notebooksOf(tracker(panel));
    await lookAfter(panel);
    expect(found.behind(id)).toBe(why !== 'put back');
    if (why === 'put back') {
      cell.add(output(view(id)));
      cell.clear();
      await settled();
    }
    expect(found.behind(id)).toBe(true);
    found.write(id, view(id, { 'text/plain': 'more' }));
    expect(cell.bundles).toEqual([view(id, { 'text/plain': 'more' })]);
  });

  it('is left to the kernel where its updates arrive', () => {
    const cell = new Outputs([output(view('arrives'))]);
    const found = notebooksOf(tracker(notebook([cell]).panel));
    found.write('arrives', view('arrives', { 'text/plain': 'more' }));
    expect(cell.bundles).toEqual([view('arrives')]);
  });
});

describe('a finished turn', () => {
  it.each([view('a'), { ...view('a'), [MIME]: {} }])('is written in the place of its view: %j', data => {
    const cells = [new Outputs([output(view('other')), output(data)]), new Outputs([output(data)])];
    const { panel } = notebook(cells);
    const found = notebooksOf({ currentWidget: null, forEach: visit => visit(panel), widgetAdded: new Signal() } as INotebookTracker);
    expect([found.hold('a'), found.hold('b')]).toEqual([true, false]);
    found.write('a', { 'text/plain': 'done' });
    expect(cells.map(cell => cell.bundles)).toEqual([[view('other'), { 'text/plain': 'done' }], [{ 'text/plain': 'done' }]]);
    expect(found.hold('a')).toBe(false);
  });
});

describe('the field of a question that was settled', () => {
  function fieldsAt(...dates: (string | undefined)[]) {
    const items = dates.map(date => ({
      gone: false,
      widgets: [{}, { _parentHeader: { date } }],
      hasClass: (name: string) => name === 'jp-OutputArea-stdin-item',
      dispose() {
        this.gone = true;
      }
    }));
    const shown = { gone: false, hasClass: () => false, dispose: () => expect.unreachable() };
    const { panel } = notebook([]);
    Object.assign(panel.content, { widgets: [{}, { outputArea: { widgets: [shown, ...items] } }] });
    return { panel, items };
  }

  it.each([
    [['1970-01-01T00:01:40Z'], [true], false],
    [['1970-01-01T00:01:40Z', '1970-01-01T00:03:20Z'], [true, false], true],
    [[undefined], [false], true]
  ])('goes, and the next one stays: %j', (dates, gone, pending) => {
    const { panel, items } = fieldsAt(...dates);
    const kernel = { hasPendingInput: true };
    endInput(panel, kernel, 150);
    expect(items.map(item => item.gone)).toEqual(gone);
    expect(kernel.hasPendingInput).toBe(pending);
  });
});
