/** The part of the labextension that opens files which a card names: beside its notebook, at their line. */

import { ILabShell } from '@jupyterlab/application';
import { PageConfig } from '@jupyterlab/coreutils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { Follower, panelOf } from './follow';
import { setFiles, type FilePlace, type Files, type Following } from './page';
import { below } from './text/paths';

/** A document as JupyterLab shows it; only a text editor has lines. */
export interface Opened {
  readonly id: string;
  readonly isAttached: boolean;
  /** The panel of tabs in which it stands. */
  readonly parent: Tabs | null;
  close(): void;
  readonly content: { readonly editor?: Editor };
  readonly context: {
    readonly ready: Promise<unknown>;
    readonly model: { readonly dirty: boolean; readonly collaborative?: boolean };
    readonly contentsModel?: { readonly last_modified: string } | null;
    revert(): Promise<void>;
  };
}

interface Tabs {
  selectWidget(widget: unknown): void;
  tabBars(): Iterable<{ readonly titles: readonly { readonly owner: unknown }[] }>;
}

/** Lines and columns are 0-based. */
interface Editor {
  readonly lineCount: number;
  setOption(name: 'highlightActiveLine', value: boolean): void;
  setCursorPosition(position: { line: number; column: number }): void;
}

/** What of JupyterLab's application it takes. */
export interface App {
  shell: { activateById(id: string): void; widgets(area: 'main'): Iterable<unknown> };
  commands: { execute(id: string, args: Record<string, unknown>): Promise<unknown> };
  serviceManager: { contents: { get(path: string, options: { content: false }): Promise<{ type: string; last_modified: string }> } };
}

/**
 * The folders whose content the server serves, as its page says: links in it resolved, and as it was named. A name
 * that begins with `~` is of no use here.
 */
export function serverRoots(option: (name: string) => string): string[] {
  const uri = option('rootUri');
  const resolved = uri.startsWith('file:') ? [decodeURIComponent(new URL(uri).pathname)] : [];
  const named = option('serverRoot');
  return named.startsWith('~') ? resolved : [...resolved, named];
}

/** What is shown of the server's files, and where. */
export class ServerFiles implements Files {
  readonly following: Following | null;
  /** The last document that was opened beside a notebook; the next one goes beside that. */
  private readonly last = new WeakMap<NotebookPanel, Opened>();

  constructor(
    private readonly app: App,
    private readonly tracker: INotebookTracker,
    private readonly roots: string[],
    shell: ILabShell | null
  ) {
    this.following = shell && new Follower(this, tracker, shell);
  }

  has(path: string): boolean {
    return this.contentsPath(path) !== null;
  }

  async open(place: FilePlace, from: Element): Promise<string | null> {
    try {
      const { opened } = await this.show(place, panelOf(from, this.tracker));
      if (opened.isAttached) this.app.shell.activateById(opened.id);
      return null;
    } catch (error) {
      return `The server does not open it: ${error instanceof Error ? error.message : error}`;
    }
  }

  /**
   * Show a file beside a notebook, without taking the focus; Notebook 7 opens it in a tab of the browser.
   *
   * @returns The document, and whether it was not open before.
   * @throws Error where the server has it not, or refuses it.
   */
  async show({ path, line }: FilePlace, panel: NotebookPanel | null): Promise<{ opened: Opened; fresh: boolean }> {
    const at = this.contentsPath(path);
    if (at === null) throw new Error('it is not among its files');
    const { type, last_modified } = await this.app.serviceManager.contents.get(at, { content: false });
    if (type === 'directory') throw new Error('it is a folder');
    // another viewer of a file may have no lines
    const factory = line === null || type === 'notebook' ? {} : { factory: 'Editor' };
    const before = new Set(this.app.shell.widgets('main'));
    const opened = (await this.app.commands.execute('docmanager:open', { path: at, ...factory, options: this.beside(panel) })) as Opened;
    const fresh = !before.has(opened);
    if (!opened.isAttached) return { opened, fresh };
    if (panel) this.last.set(panel, opened);
    if (!shareTabs(opened, panel)) opened.parent?.selectWidget(opened);
    await upToDate(opened, last_modified);
    goTo(opened, line, fresh);
    return { opened, fresh };
  }

  /** Let a document show what its file now holds, at the line where it was. */
  async refresh({ path, line }: FilePlace, opened: Opened): Promise<void> {
    const { last_modified } = await this.app.serviceManager.contents.get(this.contentsPath(path) ?? '', { content: false });
    if (await upToDate(opened, last_modified)) goTo(opened, line, false);
  }

  private contentsPath(path: string): string | null {
    return this.roots.map(root => below(path, root)).find(found => found !== null) ?? null;
  }

  private beside(panel: NotebookPanel | null): Record<string, unknown> {
    const last = panel && this.last.get(panel);
    if (last?.isAttached) return { ref: last.id, mode: 'tab-after', activate: false };
    return { ...(panel ? { ref: panel.id } : {}), mode: 'split-right', activate: false };
  }
}

/** Whether one of them hides the other. */
function shareTabs(opened: Opened, panel: NotebookPanel | null): boolean {
  const bars = [...(opened.parent?.tabBars() ?? [])].map(({ titles }) => titles.map(({ owner }) => owner));
  return bars.some(owners => owners.includes(opened) && owners.includes(panel));
}

/** Show what the file now holds, where nobody has changed the document. @returns Whether it had to be read anew. */
async function upToDate({ context }: Opened, lastModified: string): Promise<boolean> {
  await context.ready;
  const stale = context.contentsModel?.last_modified !== lastModified;
  if (!stale || context.model.dirty || context.model.collaborative) return false;
  await context.revert();
  return true;
}

/** @param marked Whether the line is to be seen also while the focus is elsewhere. */
function goTo({ content: { editor } }: Opened, line: number | null, marked: boolean): void {
  if (line === null || !editor) return;
  if (marked) editor.setOption('highlightActiveLine', true);
  editor.setCursorPosition({ line: Math.min(Math.max(line, 1), editor.lineCount) - 1, column: 0 });
}

export default {
  id: 'acp-jupyter:files',
  description: 'Opens files that a card names, and follows the agent through them.',
  autoStart: true,
  optional: [INotebookTracker, ILabShell],
  activate: (app: App, tracker: INotebookTracker | null, shell: ILabShell | null): void => {
    if (tracker) setFiles(new ServerFiles(app, tracker, serverRoots(PageConfig.getOption), shell));
  }
};
