/**
 * What all cards of a page share. It hangs on `globalThis` since the live card and the saved one are drawn by two
 * copies of this code (the kernel's renderer and the labextension), and only plain values cross between them.
 */

import type { Turn } from './types';

export type UiValue = boolean | number | string;
export type Ui = Map<string, UiValue>;

/** What only the JupyterLab extension can do: look into the notebooks of the page, and write into them. */
export interface Notebooks {
  /** Whether an output still shows the live view of that turn. */
  hold(turnId: string): boolean;
  /** Whether the kernel's updates of that turn's output do not arrive in the notebook. */
  behind(turnId: string): boolean;
  /** Put a turn, as a MIME bundle, in the place of its live view. */
  write(turnId: string, bundle: Record<string, unknown>): void;
}

/** A place in a file, as an agent names it; lines count from 1. */
export interface FilePlace {
  path: string;
  line: number | null;
}

/** What only the JupyterLab extension can do with files: of the server, which may be another machine than the kernel's. */
export interface Files {
  /** Whether `path` lies in the folder whose content the server serves, by its text only. */
  has(path: string): boolean;
  /** Open a file for whoever has clicked at `from`. @returns Why it cannot be opened, or null. */
  open(place: FilePlace, from: Element): Promise<string | null>;
  /** Null where the page has no room beside a notebook. */
  readonly following: Following | null;
}

/** The notebooks beside which what the agent works on is opened, as it moves on. */
export interface Following {
  /** Whether the notebook in which `card` stands is one of them. */
  has(card: Element): boolean;
  set(card: Element, on: boolean): void;
}

/** A live card of the page. */
export interface LiveCard {
  /** What it is drawn in; taken out of the page while a windowed notebook does not show its cell. */
  readonly root: HTMLElement;
  /** Its turn, or null while none is known or once the kernel is gone. */
  turn(): Turn | null;
  cancel(): void;
}

interface Page {
  /** Open sections and the like, by turn: a saved card keeps what was open in the live one. */
  ui: Map<string, Ui>;
  notebooks?: Notebooks;
  files?: Files;
  /** The turns that run, as far as this page has been told. */
  running: Set<string>;
  cards?: Set<LiveCard>;
  /** What to call when a card comes, goes or has news. */
  watchers?: Set<() => void>;
}

/** How a person last chose to see something, in this browser; another card begins with it. */
export function lastChoice(key: string): UiValue | undefined {
  try {
    return JSON.parse(localStorage.getItem(`acp-jupyter:${key}`) ?? 'null') ?? undefined;
  } catch {
    return undefined; // a browser may forbid it
  }
}

export function setLastChoice(key: string, value: UiValue): void {
  try {
    localStorage.setItem(`acp-jupyter:${key}`, JSON.stringify(value));
  } catch {
    // as above
  }
}

const PAGE = Symbol.for('acp-jupyter.page.v1');

function page(): Page {
  const holder = globalThis as unknown as Record<symbol, Page | undefined>;
  return (holder[PAGE] ??= { ui: new Map(), running: new Set() });
}

/** The page's notebooks, where the JupyterLab extension is installed. */
export function notebooks(): Notebooks | undefined {
  return page().notebooks;
}

export function setNotebooks(notebooks: Notebooks): void {
  page().notebooks = notebooks;
}

/** The server's files, where the JupyterLab extension is installed. */
export function files(): Files | undefined {
  return page().files;
}

export function setFiles(files: Files): void {
  page().files = files;
}

export function isRunning(turnId: string): boolean {
  return page().running.has(turnId);
}

export function setRunning(turnId: string, runs: boolean): void {
  page().running[runs ? 'add' : 'delete'](turnId);
}

/** The live cards, in the order in which they were drawn. */
export function liveCards(): Set<LiveCard> {
  return (page().cards ??= new Set());
}

/** Call `look` whenever a live card comes, goes or has news: often, so it has to be quick. */
export function watchCards(look: () => void): void {
  (page().watchers ??= new Set()).add(look);
}

export function cardsChanged(): void {
  page().watchers?.forEach(look => look());
}

/** The state of a turn's sections, shared by every card of that turn. */
export function uiOf(turnId: string): Ui {
  const all = page().ui;
  let ui = all.get(turnId);
  if (!ui) all.set(turnId, (ui = new Map()));
  return ui;
}
