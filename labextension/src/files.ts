/** The part of the labextension that opens files which a card names: beside its notebook, at their line. */

import { PageConfig } from '@jupyterlab/coreutils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { setFiles, type FilePlace, type Files } from './page';
import { below } from './text/paths';

/** A document as JupyterLab shows it; only a text editor has lines. */
interface Opened {
  readonly id: string;
  readonly isDisposed: boolean;
  readonly isAttached: boolean;
  /** The panel of tabs in which it stands. */
  readonly parent: { selectWidget?(widget: unknown): void } | null;
  readonly content: { readonly editor?: Editor };
  readonly context: {
    readonly ready: Promise<unknown>;
    readonly model: { readonly dirty: boolean; readonly collaborative?: boolean };
    readonly contentsModel?: { readonly last_modified: string } | null;
    revert(): Promise<void>;
  };
}

/** Lines and columns are 0-based. */
interface Editor {
  readonly lineCount: number;
  setCursorPosition(position: { line: number; column: number }): void;
}

/** What of JupyterLab's application it takes. */
export interface App {
  shell: { activateById(id: string): void };
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

/** What a person has clicked, and the tabs that are open for it. */
export class ServerFiles implements Files {
  /** The last document that was opened beside a notebook; the next one goes beside that. */
  private readonly last = new WeakMap<NotebookPanel, Opened>();

  constructor(
    private readonly app: App,
    private readonly tracker: INotebookTracker,
    private readonly roots: string[]
  ) {}

  has(path: string): boolean {
    return this.contentsPath(path) !== null;
  }

  async open(place: FilePlace, from: Element): Promise<string | null> {
    try {
      const opened = await this.show(place, this.panelOf(from));
      if (opened.isAttached) this.app.shell.activateById(opened.id);
      return null;
    } catch (error) {
      return `The server does not open it: ${error instanceof Error ? error.message : error}`;
    }
  }

  /**
   * Show a file beside a notebook, without taking the focus; Notebook 7 opens it in a tab of the browser.
   *
   * @throws Error where the server has it not, or refuses it.
   */
  async show({ path, line }: FilePlace, panel: NotebookPanel | null): Promise<Opened> {
    const at = this.contentsPath(path);
    if (at === null) throw new Error('it is not among its files');
    const { type, last_modified } = await this.app.serviceManager.contents.get(at, { content: false });
    if (type === 'directory') throw new Error('it is a folder');
    // another viewer of a file may have no lines
    const factory = line === null || type === 'notebook' ? {} : { factory: 'Editor' };
    const opened = (await this.app.commands.execute('docmanager:open', { path: at, ...factory, options: this.beside(panel) })) as Opened;
    if (!opened.isAttached) return opened;
    if (panel) this.last.set(panel, opened);
    opened.parent?.selectWidget?.(opened);
    await upToDate(opened, last_modified);
    if (line !== null && opened.content.editor) goTo(opened.content.editor, line);
    return opened;
  }

  private contentsPath(path: string): string | null {
    return this.roots.map(root => below(path, root)).find(found => found !== null) ?? null;
  }

  private panelOf(element: Element): NotebookPanel | null {
    let found: NotebookPanel | null = null;
    this.tracker.forEach(panel => {
      if (panel.node.contains(element)) found = panel;
    });
    return found;
  }

  private beside(panel: NotebookPanel | null): Record<string, unknown> {
    const last = panel && this.last.get(panel);
    if (last?.isAttached) return { ref: last.id, mode: 'tab-after', activate: false };
    return { ...(panel ? { ref: panel.id } : {}), mode: 'split-right', activate: false };
  }
}

/** Show what the file now holds, where nobody has changed the document. */
async function upToDate({ context }: Opened, lastModified: string): Promise<void> {
  await context.ready;
  const stale = context.contentsModel?.last_modified !== lastModified;
  if (stale && !context.model.dirty && !context.model.collaborative) await context.revert();
}

function goTo(editor: Editor, line: number): void {
  editor.setCursorPosition({ line: Math.min(Math.max(line, 1), editor.lineCount) - 1, column: 0 });
}

export default {
  id: 'acp-jupyter:files',
  description: 'Opens files that a card names.',
  autoStart: true,
  optional: [INotebookTracker],
  activate: (app: App, tracker: INotebookTracker | null): void => {
    if (tracker) setFiles(new ServerFiles(app, tracker, serverRoots(PageConfig.getOption)));
  }
};
