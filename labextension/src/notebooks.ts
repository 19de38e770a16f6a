/**
 * The part of the labextension that looks after the live cards in the page's notebooks: it writes a finished turn
 * where the kernel's last update does not arrive, puts a card back whose output was cleared while its turn runs, and
 * shows what was saved of a turn whose kernel has gone.
 */

import type { INotebookTracker, NotebookPanel, Output, Outputs } from '@jupyterlab/notebook';
import { isRunning, type Notebooks } from './page';
import { MIME } from './types';

const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';
const WIDGET_TARGET = 'jupyter.widget';

/** The live view of a turn, as an output holds it. */
interface View {
  turnId: string;
  modelId: string;
  data: Output['data'];
  metadata: Output['metadata'];
}

interface Place extends View {
  outputs: Outputs;
  index: number;
}

function viewOf({ data, metadata }: Output): View | null {
  const view = data[WIDGET_MIME] as { model_id?: unknown; turn_id?: unknown } | undefined;
  const turnId = view?.turn_id ?? (data[MIME] as { turn_id?: unknown } | undefined)?.turn_id;
  return view && typeof turnId === 'string' ? { turnId, modelId: String(view.model_id), data, metadata } : null;
}

function viewsIn(outputs: Outputs): Place[] {
  const places: Place[] = [];
  for (let index = 0; index < outputs.length; index++) {
    const view = viewOf(outputs.get(index));
    if (view) places.push({ ...view, outputs, index });
  }
  return places;
}

function outputsOf({ content: { model } }: NotebookPanel): Outputs[] {
  const found: Outputs[] = [];
  for (let at = 0; at < (model?.cells.length ?? 0); at++) {
    const outputs = model?.cells.get(at).outputs;
    if (outputs) found.push(outputs);
  }
  return found;
}

function viewsOf(panel: NotebookPanel): Place[] {
  return outputsOf(panel).flatMap(viewsIn);
}

function put(outputs: Outputs, data: Output['data'], metadata: Output['metadata'], index?: number): void {
  const output = { output_type: 'display_data', data, metadata };
  if (index === undefined) outputs.add(output);
  else outputs.set(index, output);
}

/**
 * The turns whose output came with its cell (the page was reloaded, the cell moved or brought back), or has been put
 * back: JupyterLab does not take the kernel's updates into those.
 */
const behind = new Set<string>();

/** Look into the open notebooks of `tracker`. */
export function notebooksOf(tracker: INotebookTracker): Notebooks {
  const find = (turnId: string): Place[] => {
    const places: Place[] = [];
    tracker.forEach(panel => places.push(...viewsOf(panel).filter(view => view.turnId === turnId)));
    return places;
  };
  return {
    hold: turnId => find(turnId).length > 0,
    behind: turnId => behind.has(turnId),
    write: (turnId, data) => {
      if (WIDGET_MIME in data && !behind.has(turnId)) return; // for another page
      for (const { outputs, index } of find(turnId)) put(outputs, data, {}, index);
    }
  };
}

/**
 * Put a card back when its output is cleared, or its cell is run again, while its turn runs: the page would not show
 * it again otherwise, and nobody could answer. A deleted cell stays deleted; to undo that brings the card with it.
 */
export function keepCards(panel: NotebookPanel): void {
  const cells = panel.content.model?.cells;
  const watched = new WeakMap<Outputs, View[]>();
  const restore = (outputs: Outputs, views: View[]): void => {
    const stands = outputsOf(panel);
    if (!stands.includes(outputs)) return;
    for (const { turnId, data, metadata } of views) {
      const elsewhere = stands.some(one => viewsIn(one).some(view => view.turnId === turnId));
      if (!isRunning(turnId) || elsewhere) continue;
      behind.add(turnId);
      put(outputs, data, metadata);
    }
  };
  const watch = (): void => {
    for (const outputs of outputsOf(panel)) {
      if (watched.has(outputs)) continue;
      const brought = viewsIn(outputs);
      watched.set(outputs, brought);
      for (const { turnId } of brought) behind.add(turnId);
      outputs.changed.connect((_sender, { type }) => {
        const before = watched.get(outputs) ?? [];
        watched.set(outputs, viewsIn(outputs));
        // when JupyterLab has finished with the outputs, and before anything is painted
        if (before.length > 0 && (type === 'clear' || type === 'remove')) queueMicrotask(() => restore(outputs, before));
      });
    }
  };
  watch();
  cells?.changed.connect(watch);
}

/** Show the saved document, in place of "model not found", of each turn whose widget the notebook's kernel does not have. */
export async function showSaved(panel: NotebookPanel): Promise<void> {
  const before = viewsOf(panel);
  if (before.length === 0) return;
  const kernel = panel.sessionContext.session?.kernel;
  const info = await kernel?.requestCommInfo({ target_name: WIDGET_TARGET });
  const comms = info?.content.comms ?? {};
  const dead = new Set(before.map(view => view.modelId).filter(id => !Object.hasOwn(comms, id)));
  for (const { outputs, index, modelId, data, metadata } of viewsOf(panel)) {
    if (!dead.has(modelId)) continue;
    const { [WIDGET_MIME]: _view, ...rest } = data;
    put(outputs, rest, metadata, index);
  }
}

/** Look after the cards of a notebook, from when it is loaded. */
export async function lookAfter(panel: NotebookPanel): Promise<void> {
  const { context, sessionContext } = panel;
  await context.ready;
  keepCards(panel);
  await sessionContext.ready;
  await showSaved(panel);
  sessionContext.kernelChanged.connect((_sender, { newValue }) => {
    if (newValue) void showSaved(panel);
  });
}
