/** The part of the labextension that completes `/commands` of the agent and `@files` in the prompt of a `%%acp` cell. */

import type { NotebookPanel } from '@jupyterlab/notebook';
import { isPrompt } from './prompts';
import { MIME } from './types';

/** An entry of a folder, as Jupyter's contents API tells it. */
interface Entry {
  name: string;
  type: string;
}

/** What of JupyterLab's application it takes. */
export interface App {
  serviceManager: { contents: { get(path: string, options: { content: true }): Promise<{ content?: unknown }> } };
}

interface Item {
  label: string;
  type: string;
  documentation?: string;
}

interface Context {
  widget: unknown;
  editor?: { model: { sharedModel: { getSource(): string } } } | null;
}

interface Reply {
  start: number;
  end: number;
  items: Item[];
}

/** The word before the cursor, where it can be completed: a command begins a line, a file's name a word. */
export function wordAt(text: string, offset: number): string | null {
  const before = text.slice(0, offset);
  return /(?:^|\n)(\/\S*)$/.exec(before)?.[1] ?? /(?:^|\s)(@\S*)$/.exec(before)?.[1] ?? null;
}

/** The commands that the agent of the notebook's latest turn has. */
export function commandsIn({ content: { model } }: NotebookPanel): Item[] {
  for (let at = (model?.cells.length ?? 0) - 1; at >= 0; at--) {
    const outputs = model?.cells.get(at).outputs;
    for (let index = (outputs?.length ?? 0) - 1; index >= 0; index--) {
      const turn = outputs?.get(index).data[MIME] as { commands?: unknown } | undefined;
      if (Array.isArray(turn?.commands) && turn.commands.length > 0) return turn.commands.flatMap(itemOf);
    }
  }
  return [];
}

/** A command in a saved document, which anybody may have written. */
function itemOf(command: unknown): Item[] {
  const { name, description } = (command ?? {}) as { name?: unknown; description?: unknown };
  if (typeof name !== 'string' || name === '' || /\s/.test(name)) return [];
  return [{ label: `/${name}`, type: 'command', ...(typeof description === 'string' ? { documentation: description } : {}) }];
}

/** The files and folders that go on with `word`, within the notebook's own folder. */
export async function filesFor(word: string, notebook: string, app: App): Promise<Item[]> {
  const within = word.slice(1, word.lastIndexOf('/') + 1);
  if (within.startsWith('/') || within.split('/').includes('..')) return [];
  const folder = notebook.slice(0, notebook.lastIndexOf('/') + 1) + within;
  // a folder that is not there has no files
  const found = await app.serviceManager.contents.get(folder.replace(/\/$/, ''), { content: true }).catch(() => null);
  const entries = Array.isArray(found?.content) ? (found.content as Entry[]) : [];
  return entries.map(({ name, type }) => ({ label: `@${within}${name}${type === 'directory' ? '/' : ''}`, type: type === 'directory' ? 'folder' : 'file' }));
}

/** A provider of JupyterLab's completer. */
export class Completion {
  readonly identifier = 'acp-jupyter:completion';
  readonly rank = 1000;
  readonly renderer = null;

  constructor(private readonly app: App) {}

  async isApplicable({ editor }: Context): Promise<boolean> {
    return isPrompt(editor?.model.sharedModel.getSource() ?? '');
  }

  async fetch({ text, offset }: { text: string; offset: number }, { widget }: Context): Promise<Reply> {
    const panel = widget as NotebookPanel;
    const word = wordAt(text, offset);
    const items = word === null ? [] : word.startsWith('/') ? commandsIn(panel) : await filesFor(word, panel.context.path, this.app);
    const matching = items.filter(({ label }) => label.startsWith(word ?? ''));
    return { start: offset - (word ?? '').length, end: offset, items: matching };
  }
}
