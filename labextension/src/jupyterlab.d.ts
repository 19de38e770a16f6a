/**
 * The little that we use of JupyterLab's own packages, which the page provides: with their types the build would
 * install some hundred packages.
 */

declare module '@jupyterlab/notebook' {
  export interface Signal<Args> {
    connect(slot: (sender: unknown, args: Args) => void): void;
  }

  export interface Output {
    readonly data: Record<string, unknown>;
    readonly metadata: Record<string, unknown>;
  }

  export interface Outputs {
    readonly length: number;
    readonly changed: Signal<{ readonly type: string }>;
    get(index: number): Output;
    set(index: number, value: Output & { output_type: string }): void;
    add(value: Output & { output_type: string }): void;
  }

  export interface Cells {
    readonly length: number;
    readonly changed: Signal<unknown>;
    get(index: number): CellModel;
  }

  export interface CellModel {
    readonly type: string;
    /** Only a code cell has them. */
    readonly outputs?: Outputs;
    /** What its editor takes for its language. */
    mimeType: string;
    readonly mimeTypeChanged: Signal<unknown>;
    readonly contentChanged: Signal<unknown>;
    readonly sharedModel: { getSource(): string };
  }

  export interface CommOpen {
    readonly content: { readonly data: Record<string, unknown> };
    readonly parent_header: object;
  }

  export interface Kernel {
    readonly clientId: string;
    hasPendingInput: boolean;
    requestCommInfo(content: { target_name: string }): Promise<{ content: { comms?: Record<string, unknown> } }>;
    registerCommTarget(name: string, callback: (comm: { close(): unknown }, message: CommOpen) => void): void;
  }

  /** What stands in an output area: an output, or the field of a question. */
  export interface Item {
    readonly widgets?: Iterable<unknown>;
    hasClass(name: string): boolean;
    dispose(): void;
  }

  /** A cell as it is drawn. */
  export interface Cell {
    readonly node: HTMLElement;
    outputHidden?: boolean;
    /** Only that of a code cell has outputs. */
    readonly outputArea?: { readonly widgets: readonly Item[] };
  }

  export interface NotebookPanel {
    readonly id: string;
    readonly node: HTMLElement;
    readonly title: { readonly label: string };
    readonly content: {
      readonly model: { readonly cells: Cells } | null;
      readonly widgets: readonly Cell[];
      activeCellIndex: number;
      scrollToItem(index: number): Promise<void>;
    };
    readonly context: { readonly path: string; readonly ready: Promise<unknown> };
    readonly sessionContext: {
      readonly ready: Promise<unknown>;
      readonly session: { readonly kernel: Kernel | null } | null;
      readonly kernelChanged: Signal<{ readonly newValue: Kernel | null }>;
    };
  }

  export interface INotebookTracker {
    readonly currentWidget: NotebookPanel | null;
    readonly widgetAdded: Signal<NotebookPanel>;
    forEach(visit: (panel: NotebookPanel) => void): void;
  }

  /** The token by which a plugin gets the tracker. */
  export const INotebookTracker: unknown;
}

declare module '@jupyterlab/application' {
  export interface ILabShell {
    /** What had the focus last, of what stands in the main area. */
    readonly currentWidget: unknown;
  }

  /** The token by which a plugin gets JupyterLab's shell; Notebook 7 has another. */
  export const ILabShell: unknown;
}

declare module '@jupyterlab/apputils' {
  export interface ICommandPalette {
    addItem(item: { command: string; category: string }): unknown;
  }

  /** The token by which a plugin gets the palette. */
  export const ICommandPalette: unknown;

  export const Notification: {
    emit(message: string, type: 'info', options: { autoClose: false; actions: { label: string; callback: () => void }[] }): string;
    dismiss(id: string): void;
  };
}

declare module '@jupyterlab/statusbar' {
  import type { Widget } from '@lumino/widgets';

  export interface IStatusBar {
    registerStatusItem(id: string, item: { item: Widget; align: 'left' | 'middle' | 'right'; rank: number; isActive: () => boolean }): unknown;
  }

  /** The token by which a plugin gets the status bar. */
  export const IStatusBar: unknown;
}

declare module '@jupyterlab/codemirror' {
  export interface IEditorLanguageRegistry {
    getLanguage(mimeType: string): Promise<unknown>;
  }

  /** The token by which a plugin gets the languages of the editors. */
  export const IEditorLanguageRegistry: unknown;
}

declare module '@jupyterlab/completer' {
  export interface ICompletionProviderManager {
    registerProvider(provider: { identifier: string; rank: number }): void;
  }

  /** The token by which a plugin gets the completer's providers. */
  export const ICompletionProviderManager: unknown;
}

declare module '@jupyterlab/coreutils' {
  /** What the server tells the page; an option that it does not tell is empty. */
  export const PageConfig: { getOption(name: string): string };
}
