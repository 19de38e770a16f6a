/**
 * The part of the labextension that takes away the field of a question which needs no answer any more: nothing else
 * does, JupyterLab runs no cell while it stands, and what is typed into it would answer the next question.
 */

import type { Kernel, NotebookPanel } from '@jupyterlab/notebook';
import { whenAsked } from './kernels';

const FIELD = 'jp-OutputArea-stdin-item';

interface Stdin {
  /** The header of the kernel's request: JupyterLab has no public way to it. */
  _parentHeader?: { date?: string };
}

/** When the kernel has asked for it, in Unix seconds. */
function askedAt(widgets: Iterable<unknown>): number {
  const dates = [...widgets].map(one => Date.parse((one as Stdin)._parentHeader?.date ?? ''));
  return (dates.find(date => !Number.isNaN(date)) ?? Infinity) / 1000;
}

/** Take away the fields of questions before `settledAt`; the next question may stand already. */
export function endInput({ content }: NotebookPanel, kernel: Pick<Kernel, 'hasPendingInput'>, settledAt: number): void {
  const fields = content.widgets.flatMap(({ outputArea }) => outputArea?.widgets.filter(item => item.hasClass(FIELD)) ?? []);
  const settled = fields.filter(field => askedAt(field.widgets ?? []) < settledAt);
  for (const field of settled) field.dispose();
  if (settled.length === fields.length) kernel.hasPendingInput = false;
}

export function listenForSettled(panel: NotebookPanel, kernel: Kernel): void {
  whenAsked(kernel, 'input', ({ settled_at }) => {
    if (typeof settled_at === 'number') endInput(panel, kernel, settled_at);
  });
}
