/** The parts of the labextension that tell what waits: an item in the status bar, and a notification with a way there. */

import { Notification } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Widget } from '@lumino/widgets';
import { liveCards, watchCards } from './page';
import { answerable, requestsOf, runningCards, show, soon, standOf, statusWords, type Request, type Shell } from './requests';

/** Soon enough for the eye. */
const SOON_MS = 100;
/** A card needs this long to draw what has just come, and to bring it into sight. */
const DRAWN_MS = 500;

/** The item, there from the page's first card on; a click goes to what waits. */
export class StatusItem extends Widget {
  shown = false;
  private readonly button = document.createElement('button');

  constructor(go: (request: Request) => void) {
    super();
    this.addClass('acp-status-item');
    this.button.type = 'button';
    this.button.style.cssText = 'all: unset; padding: 0 6px; color: inherit; font: inherit; line-height: 24px';
    this.button.addEventListener('click', () => {
      const [first] = requestsOf(runningCards());
      if (first) go(first);
    });
    this.node.append(this.button);
    this.look();
    watchCards(soon(() => this.look(), SOON_MS));
  }

  private look(): void {
    const running = runningCards();
    const waiting = requestsOf(running).length;
    this.shown ||= liveCards().size > 0;
    this.setHidden(!this.shown);
    this.button.textContent = statusWords(running.length, waiting);
    this.button.disabled = waiting === 0;
    this.button.title = waiting > 0 ? 'Show what waits' : '';
    this.button.style.cursor = waiting > 0 ? 'pointer' : 'default';
    this.button.style.fontWeight = waiting > 0 ? '600' : '';
    this.node.dataset['state'] = waiting > 0 ? 'waiting' : running.length > 0 ? 'running' : 'idle';
  }
}

export const status = {
  id: 'acp-jupyter:status',
  description: 'Tells in the status bar whether an agent runs or waits.',
  autoStart: true,
  optional: [INotebookTracker, IStatusBar],
  activate: (app: Shell, tracker: INotebookTracker | null, bar: IStatusBar | null): void => {
    if (!bar) return;
    const item = new StatusItem(request => void show(request, app, tracker));
    bar.registerStatusItem('acp-jupyter:status', { item, align: 'left', rank: 3, isActive: () => item.shown });
  }
};

/** The notifications of what waits out of sight, by turn and key; one that has been told is not told again. */
export class Notices {
  private readonly told = new Map<string, string | null>();

  constructor(
    private readonly app: Shell,
    private readonly tracker: INotebookTracker | null
  ) {
    watchCards(soon(() => this.look(), DRAWN_MS));
    const clear = soon(() => this.clear(), SOON_MS);
    watchCards(clear);
    // whoever has gone to it needs no telling, and a notification may lie over its buttons
    for (const event of ['scroll', 'focusin', 'visibilitychange']) document.addEventListener(event, clear, true);
  }

  private look(): void {
    for (const [name, request] of this.waiting()) {
      if (!this.told.has(name)) this.told.set(name, answerable(request) ? null : this.tell(request));
    }
  }

  private clear(): void {
    if (this.told.size === 0) return;
    const waiting = this.waiting();
    for (const [name, id] of this.told) {
      const request = waiting.get(name);
      if (id !== null && (!request || answerable(request))) {
        Notification.dismiss(id);
        this.told.set(name, null);
      }
      if (!request) this.told.delete(name);
    }
  }

  private waiting(): Map<string, Request> {
    return new Map(requestsOf(runningCards()).map(request => [`${request.turnId} ${request.key}`, request]));
  }

  private tell(request: Request): string {
    const where = standOf(request.card, this.tracker)?.panel.title.label;
    // none of the agent's own words: they would stand there as JupyterLab's
    const message = `An agent waits for your answer${where ? ` in ${where}` : ''}`;
    const callback = (): void => void show(request, this.app, this.tracker);
    return Notification.emit(message, 'info', { autoClose: false, actions: [{ label: 'Show', callback }] });
  }
}

export const notices = {
  id: 'acp-jupyter:notices',
  description: 'Tells of requests that wait out of sight.',
  autoStart: true,
  optional: [INotebookTracker],
  activate: (app: Shell, tracker: INotebookTracker | null): void => void new Notices(app, tracker)
};
