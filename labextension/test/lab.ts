import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { vi } from 'vitest';
import { ServerFiles } from '../src/files';

/** What the server serves. */
export const ROOT = '/home/user';

/** JupyterLab, with one notebook and the documents that were opened in it. */
export class Lab {
  readonly contents: Record<string, { type: string; last_modified: string }> = { 'project/src/a.py': { type: 'file', last_modified: 'then' } };
  readonly cells: { node: Element }[] = [];
  readonly panel = { id: 'nb', node: document.body, context: { path: 'nb.ipynb' }, content: { widgets: this.cells } } as unknown as NotebookPanel;
  readonly executed: Record<string, unknown>[] = [];
  readonly activateById = vi.fn();
  readonly selectWidget = vi.fn();
  readonly setCursorPosition = vi.fn();
  readonly setOption = vi.fn();
  readonly close = vi.fn();
  readonly shell: { currentWidget: unknown } = { currentWidget: this.panel };
  /** By path and viewer. */
  readonly documents = new Map<string, object>();
  /** Others in the notebook's own row of tabs. */
  readonly inFront: unknown[] = [];
  readonly revert = vi.fn(async () => undefined);
  readonly model = { dirty: false };
  attached = true;

  files(roots = [ROOT], shell: Lab['shell'] | null = this.shell): ServerFiles {
    const get = async (path: string) => this.contents[path] ?? Promise.reject(new Error(`No such file: ${path}`));
    const tracker = { forEach: (visit: (panel: NotebookPanel) => void) => visit(this.panel) } as INotebookTracker;
    const app = {
      shell: { activateById: this.activateById, widgets: () => [...this.documents.values()] },
      commands: { execute: async (_id: string, args: Record<string, unknown>) => this.open(args) },
      serviceManager: { contents: { get } }
    };
    return new ServerFiles(app, tracker, roots, shell);
  }

  private open(args: Record<string, unknown>): unknown {
    this.executed.push(args);
    const name = `${args['path']} ${args['factory']}`;
    const opened = this.documents.get(name) ?? this.document(name);
    this.documents.set(name, opened);
    return opened;
  }

  document(name: string): object {
    return {
      id: name,
      isAttached: this.attached,
      parent: { selectWidget: this.selectWidget, tabBars: () => [{ titles: [this.panel, ...this.inFront].map(owner => ({ owner })) }] },
      close: () => this.close(name),
      content: { editor: { lineCount: 20, setCursorPosition: this.setCursorPosition, setOption: this.setOption } },
      context: { ready: Promise.resolve(), model: this.model, contentsModel: { last_modified: 'then' }, revert: this.revert }
    };
  }
}
