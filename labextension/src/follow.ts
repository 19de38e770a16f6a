/** Follow an agent through the files that it works on, beside the notebooks in which somebody has asked for it. */

import type { ILabShell } from '@jupyterlab/application';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Opened, ServerFiles } from './files';
import { watchCards, type FilePlace, type Following, type LiveCard } from './page';
import { runningCards, soon, standOf } from './requests';
import { pathTrouble } from './text/paths';
import { workedOn } from './worked-on';

/** Slow enough for the eye: an agent may look into ten files a second. */
const FOLLOW_MS = 400;

/** What was shown last beside a notebook. */
interface Shown {
  at: FilePlace;
  opened: Opened;
  /** Nobody had it open before. */
  fresh: boolean;
}

type Files = Pick<ServerFiles, 'has' | 'show' | 'refresh'>;

export class Follower implements Following {
  /** By their paths, so that a notebook which is opened again is followed again. */
  private readonly notebooks = new Set<string>();
  private readonly shown = new WeakMap<NotebookPanel, Shown>();
  /** Where each turn was followed to, beside which notebook. */
  private readonly followed = new Map<string, { name: string; panel: NotebookPanel }>();
  private readonly soon = soon(() => void this.look(), FOLLOW_MS);
  private looking = false;

  constructor(
    private readonly files: Files,
    private readonly tracker: INotebookTracker,
    private readonly shell: ILabShell
  ) {
    watchCards(this.soon);
  }

  has(card: Element): boolean {
    return this.notebooks.has(panelOf(card, this.tracker)?.context.path ?? '');
  }

  set(card: Element, on: boolean): void {
    const path = panelOf(card, this.tracker)?.context.path;
    if (path === undefined) return;
    this.notebooks[on ? 'add' : 'delete'](path);
    this.soon();
  }

  /** One step at a time, whatever comes meanwhile. */
  private async look(): Promise<void> {
    if (this.looking) return this.soon();
    this.looking = true;
    const cards = runningCards();
    for (const card of cards) await this.step(card);
    await this.leave(new Set(cards.map(card => card.turn()?.turn_id)));
    this.looking = false;
  }

  private async step(card: LiveCard): Promise<void> {
    const turn = card.turn();
    const panel = standOf(card, this.tracker)?.panel;
    const at = turn && workedOn(turn);
    if (!at || !panel || !this.notebooks.has(panel.context.path)) return;
    // whoever is in another document types there, or reads
    if (this.shell.currentWidget !== panel) return;
    // when a call is over, its file may hold something else
    const name = `${at.path}:${at.line} ${at.call.status}`;
    if (this.followed.get(turn.turn_id)?.name === name || pathTrouble(at.path, turn) !== null || !this.files.has(at.path)) return;
    this.followed.set(turn.turn_id, { name, panel });
    await this.move(at, panel).catch(notThere);
  }

  private async move(at: FilePlace, panel: NotebookPanel): Promise<void> {
    const before = this.shown.get(panel);
    const { opened, fresh } = await this.files.show(at, panel);
    const same = before?.opened === opened;
    this.shown.set(panel, { at, opened, fresh: same ? before.fresh : fresh });
    // one tab is enough, unless somebody works in it
    if (before?.fresh && !same && !before.opened.context.model.dirty) before.opened.close();
  }

  /** Of turns that are over, show how they left their last file. */
  private async leave(running: Set<string | undefined>): Promise<void> {
    for (const [turnId, { panel }] of this.followed) {
      if (running.has(turnId)) continue;
      this.followed.delete(turnId);
      const shown = this.shown.get(panel);
      if (shown?.opened.isAttached) await this.files.refresh(shown.at, shown.opened).catch(notThere);
    }
  }
}

/** A file that is not there, not yet or no more, is none to look at. */
function notThere(error: unknown): void {
  console.debug(error);
}

/** The notebook in which an element stands. */
export function panelOf(element: Element, tracker: INotebookTracker): NotebookPanel | null {
  let found: NotebookPanel | null = null;
  tracker.forEach(panel => {
    if (panel.node.contains(element)) found = panel;
  });
  return found;
}
