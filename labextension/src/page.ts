/**
 * What all cards of a page share. It hangs on `globalThis` since the live card and the saved one are drawn by two
 * copies of this code (the kernel's renderer and the labextension), and only plain values cross between them.
 */

export type UiValue = boolean | number | string;
export type Ui = Map<string, UiValue>;

interface Page {
  /** Open sections and the like, by turn: a saved card keeps what was open in the live one. */
  ui: Map<string, Ui>;
}

const PAGE = Symbol.for('acp-jupyter.page.v1');

function page(): Page {
  const holder = globalThis as unknown as Record<symbol, Page | undefined>;
  return (holder[PAGE] ??= { ui: new Map() });
}

/** The state of a turn's sections, shared by every card of that turn. */
export function uiOf(turnId: string): Ui {
  const all = page().ui;
  let ui = all.get(turnId);
  if (!ui) all.set(turnId, (ui = new Map()));
  return ui;
}
