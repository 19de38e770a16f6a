/** The part of the labextension that edits the prompt of a `%%acp` cell as the Markdown that it is. */

import type { CellModel, NotebookPanel } from '@jupyterlab/notebook';

/** Markdown as JupyterLab's own Markdown cells have it. */
const MARKDOWN = 'text/x-ipythongfm';
const PYTHON = 'text/x-ipython';

/** Whether IPython takes a cell for a prompt: what is empty before the magic does not count. */
export function isPrompt(source: string): boolean {
  return /^\s*%%acp(?:\s|$)/.test(source);
}

/** Load an editor's language. */
export type Load = (mimeType: string) => Promise<unknown>;

/** Give a cell the language of what it holds, now and whenever that changes, or the notebook sets another one. */
export function followLanguage(cell: CellModel, load: Load): void {
  let code = cell.mimeType === MARKDOWN ? PYTHON : cell.mimeType;
  const look = (): void => {
    const language = isPrompt(cell.sharedModel.getSource()) ? MARKDOWN : code;
    if (cell.mimeType !== language) cell.mimeType = language;
  };
  const settle = async (): Promise<void> => {
    if (cell.mimeType !== MARKDOWN) code = cell.mimeType;
    // the editor shows the language that it has loaded last, and not the one that was set last
    await load(code);
    setTimeout(look);
  };
  cell.contentChanged.connect(look);
  cell.mimeTypeChanged.connect(() => void settle());
  void settle();
}

/** Follow the code cells of a notebook, from when it is loaded. */
export async function followPrompts({ content, context }: NotebookPanel, load: Load): Promise<void> {
  await context.ready;
  const cells = content.model?.cells;
  const followed = new WeakSet<CellModel>();
  const follow = (): void => {
    for (let at = 0; at < (cells?.length ?? 0); at++) {
      const cell = cells?.get(at);
      if (cell?.type !== 'code' || followed.has(cell)) continue;
      followed.add(cell);
      followLanguage(cell, load);
    }
  };
  follow();
  cells?.changed.connect(follow);
}
