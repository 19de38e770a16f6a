/** The part of the labextension that lets keys and the palette do what a person does on a card. */

import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { BOX_REST_MS } from './card/rest-ms';
import { watchCards, type LiveCard } from './page';
import { blockOf, drawn, inSight, requestsOf, runningCards, same, show, soon, standOf, type Request, type Shell } from './requests';

/** How soon the palette knows what can be done. */
const NEWS_MS = 200;

interface Command {
  label: string;
  isEnabled: () => boolean;
  execute: () => unknown;
}

export interface App extends Shell {
  commands: {
    addCommand(id: string, command: Command): unknown;
    notifyCommandChanged(): void;
  };
}

/** What a person does to the requests of the notebook in front of them; an answer only to what they have seen. */
export class Hand {
  /** What a command has shown last, and when. */
  private shown: Request | null = null;
  private shownAt = -Infinity;
  /** A key that is held down is no second press. */
  private held = false;

  constructor(
    private readonly app: Shell,
    private readonly tracker: INotebookTracker | null
  ) {
    window.addEventListener('keydown', event => (this.held = event.repeat), true);
  }

  get waiting(): Request[] {
    return requestsOf(runningCards());
  }

  /** Press the option of that kind, if its request is at hand; else show the request, and that is all. */
  async answer(kind: string): Promise<void> {
    const { held } = this;
    const at = this.atHand();
    const request = at && (await drawn(at));
    const button = request && blockOf(request)?.querySelector<HTMLElement>(`button.acp-option[data-kind=${kind}]`);
    if (!request || !inSight(button)) return this.showNext(request);
    const rests = performance.now() - this.shownAt < BOX_REST_MS;
    if (!rests && !held) button?.click();
  }

  next(): Promise<void> {
    return this.showNext();
  }

  /** Stop the turn of the card that has the focus, or the only one that runs; of several, the focus chooses. */
  stop(): void {
    const running = this.here(runningCards());
    const card = running.find(one => one.root.contains(document.activeElement)) ?? running[0];
    const button = card?.root.querySelector<HTMLElement>('.acp-stop');
    if (running.length > 1 && !card?.root.contains(document.activeElement)) button?.focus();
    else card?.cancel();
  }

  /** The request that has the focus, or the one shown last where the palette has taken the focus from it. */
  private atHand(): Request | undefined {
    const { waiting } = this;
    const focused = waiting.find(one => blockOf(one)?.contains(document.activeElement));
    return focused ?? waiting.find(one => same(one, this.shown) && !this.elsewhere(one));
  }

  /** Whether a person has gone to another notebook since. */
  private elsewhere({ card }: Request): boolean {
    return this.here([card]).length === 0;
  }

  /** Show `request`, or the one that comes after the one at hand: in this notebook, else in another one. */
  private async showNext(request?: Request): Promise<void> {
    const at = this.atHand();
    const inFront = requestsOf(this.here(runningCards()));
    const all = inFront.length > 0 ? inFront : this.waiting;
    const next = request ?? all[(at ? all.findIndex(one => same(one, at)) + 1 : 0) % all.length];
    if (!next) return;
    await show(next, this.app, this.tracker);
    [this.shown, this.shownAt] = [next, performance.now()];
  }

  private here(cards: LiveCard[]): LiveCard[] {
    const current = this.tracker?.currentWidget;
    return cards.filter(card => card.root.contains(document.activeElement) || standOf(card, this.tracker)?.panel === current);
  }
}

function commandsOf(hand: Hand): Record<string, Command> {
  const waits = (): boolean => hand.waiting.length > 0;
  return {
    approve: { label: 'Approve the request', isEnabled: waits, execute: () => hand.answer('allow_once') },
    reject: { label: 'Reject the request', isEnabled: waits, execute: () => hand.answer('reject_once') },
    next: { label: 'Show the next request', isEnabled: waits, execute: () => hand.next() },
    stop: { label: 'Stop the agent', isEnabled: () => runningCards().length > 0, execute: () => hand.stop() }
  };
}

export default {
  id: 'acp-jupyter:commands',
  description: 'Commands for what waits on the cards of the notebook.',
  autoStart: true,
  optional: [INotebookTracker, ICommandPalette],
  activate: (app: App, tracker: INotebookTracker | null, palette: ICommandPalette | null): void => {
    const commands = commandsOf(new Hand(app, tracker));
    for (const [name, command] of Object.entries(commands)) {
      app.commands.addCommand(`acp-jupyter:${name}`, { ...command, label: `ACP: ${command.label}` });
      palette?.addItem({ command: `acp-jupyter:${name}`, category: 'ACP' });
    }
    watchCards(soon(() => app.commands.notifyCommandChanged(), NEWS_MS));
  }
};
