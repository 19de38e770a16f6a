/** What waits for a person on the page: where it stands, whether it can be seen, and the way to it. */

import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { liveCards, type LiveCard } from './page';
import { hasEnded, openKeys } from './store';

/** What of JupyterLab's application it takes. */
export interface Shell {
  shell: { activateById(id: string): void };
}

/** A request for permission, a form or an address that waits. */
export interface Request {
  card: LiveCard;
  turnId: string;
  key: string;
}

/** Where a card stands. */
interface Stand {
  panel: NotebookPanel;
  index: number;
}

/** What the status bar says. */
export function statusWords(running: number, waiting: number): string {
  if (waiting > 0) return waiting === 1 ? 'ACP: waiting for you' : `ACP: ${waiting} wait for you`;
  return running > 0 ? 'ACP: running' : 'ACP: idle';
}

/** A function that calls `look` soon, and once however often it is called until then: news may come thirty times a second. */
export function soon(look: () => void, delay_ms: number): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    setTimeout(() => {
      due = false;
      look();
    }, delay_ms);
  };
}

/** The cards whose turn is not over, one for each turn: a widget of its own tells after `#` which one it is. */
export function runningCards(): LiveCard[] {
  const cards = new Map<string, LiveCard>();
  for (const card of liveCards()) {
    const turn = card.turn();
    // of two views of a turn, the one that stands in the page
    const id = turn?.turn_id.replace(/#.*/, '');
    if (turn && id !== undefined && !hasEnded(turn) && !cards.get(id)?.root.isConnected) cards.set(id, card);
  }
  return [...cards.values()];
}

/** What waits on the given cards, in the order in which it came. */
export function requestsOf(cards: LiveCard[]): Request[] {
  return cards.flatMap(card => {
    const turn = card.turn();
    return turn ? openKeys(turn).map(key => ({ card, turnId: turn.turn_id, key })) : [];
  });
}

/** Where a card stands among the open notebooks: also one whose cell is not drawn now. */
export function standOf(card: LiveCard, tracker: INotebookTracker | null): Stand | undefined {
  let stand: Stand | undefined;
  tracker?.forEach(panel => {
    const index = panel.content.widgets.findIndex(cell => cell.node.contains(card.root));
    if (index >= 0) stand = { panel, index };
  });
  return stand;
}

/** The block of a request on its card, once it is drawn. */
export function blockOf({ card, key }: Request): HTMLElement | undefined {
  return [...card.root.querySelectorAll<HTMLElement>('[data-key]')].find(one => one.dataset['key'] === key);
}

const FRAMES = 10;

/** The request as it stands in the page: its output may just be written anew, and a card draw it that is not there yet. */
export async function drawn(request: Request): Promise<Request> {
  for (let frames = 0; ; frames++) {
    const now = requestsOf(runningCards()).find(one => same(one, request)) ?? request;
    if (now.card.root.isConnected || frames === FRAMES) return now;
    await frame();
  }
}

export function same(one: Request, other: Request | null): boolean {
  return one.turnId === other?.turnId && one.key === other.key;
}

/** Whether a person can see an element: it is in the page, within all that scrolls, and nothing lies over it. */
export function inSight(element: Element | null | undefined): boolean {
  if (!element?.isConnected || document.hidden) return false;
  const { left, top, width, height } = element.getBoundingClientRect();
  const seen = width > 0 && height > 0 ? document.elementFromPoint(left + width / 2, top + height / 2) : null;
  return seen !== null && element.contains(seen);
}

/** Whether what answers a request can be seen. */
export function answerable(request: Request): boolean {
  const block = blockOf(request);
  return inSight(block?.querySelector('.acp-options') ?? block);
}

/** Bring a request into sight, in whichever notebook it is, and give it the focus. */
export async function show(request: Request, app: Shell, tracker: INotebookTracker | null): Promise<void> {
  const stand = standOf(request.card, tracker);
  if (stand) await goTo(stand, app, tracker);
  const block = blockOf(await drawn(request));
  if (!block) return;
  block.scrollIntoView({ block: 'center' });
  if (!answerable(request)) block.querySelector('.acp-options')?.scrollIntoView({ block: 'nearest' });
  // noted now, not at the event: the output may be written anew before that
  block.closest('.acp-body')?.dispatchEvent(new Event('scroll'));
  block.focus({ preventScroll: true });
}

/** Make a cell the current one, with its output in the page. */
async function goTo({ panel, index }: Stand, app: Shell, tracker: INotebookTracker | null): Promise<void> {
  if (tracker?.currentWidget !== panel) app.shell.activateById(panel.id);
  if (panel.content.activeCellIndex !== index) panel.content.activeCellIndex = index;
  const cell = panel.content.widgets[index];
  if (cell?.outputHidden) cell.outputHidden = false;
  if (!cell?.node.isConnected) await panel.content.scrollToItem(index);
  // both take the focus a moment later
  await frame();
  await frame();
}

function frame(): Promise<unknown> {
  return new Promise(requestAnimationFrame);
}
