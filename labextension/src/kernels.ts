/** How a kernel asks for what only a page can do: by a comm, which the page closes. */

import type { INotebookTracker, Kernel, NotebookPanel } from '@jupyterlab/notebook';

/** Call `follow` for each notebook of the page, now and later. */
export function eachNotebook(tracker: INotebookTracker, follow: (panel: NotebookPanel) => void): void {
  tracker.forEach(follow);
  tracker.widgetAdded.connect((_sender, panel) => follow(panel));
}

/** Call `use` with whichever kernel a notebook has. */
export function eachKernel({ sessionContext }: NotebookPanel, use: (kernel: Kernel) => void): void {
  const kernel = sessionContext.session?.kernel;
  if (kernel) use(kernel);
  sessionContext.kernelChanged.connect((_sender, { newValue }) => newValue && use(newValue));
}

/** Answer a kernel that asks for `what`, on the page where the user has run the cell. */
export function whenAsked(
  kernel: Pick<Kernel, 'clientId' | 'registerCommTarget'>,
  what: string,
  serve: (data: Record<string, unknown>) => void
): void {
  kernel.registerCommTarget(`acp_jupyter.${what}`, (comm, message) => {
    const ours = (message.parent_header as { session?: unknown }).session === kernel.clientId;
    if (ours) serve(message.content.data);
    comm.close();
  });
}
