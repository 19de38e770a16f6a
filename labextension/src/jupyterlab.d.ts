/**
 * The little that we use of JupyterLab's own packages, which the page provides: with their types the build would
 * install some hundred packages.
 */

declare module '@jupyterlab/notebook' {
  export interface Output {
    readonly data: Record<string, unknown>;
  }

  export interface Outputs {
    readonly length: number;
    get(index: number): Output;
    set(index: number, value: { output_type: string; data: Record<string, unknown>; metadata: Record<string, unknown> }): void;
  }

  export interface Cells {
    readonly length: number;
    get(index: number): { readonly outputs?: Outputs };
  }

  export interface INotebookTracker {
    forEach(visit: (panel: { readonly content: { readonly model: { readonly cells: Cells } | null } }) => void): void;
  }

  /** The token by which a plugin gets the tracker. */
  export const INotebookTracker: unknown;
}
