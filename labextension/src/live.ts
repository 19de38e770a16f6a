/** A card's line to the kernel: messages in, answers out. One store per turn, however many views show it. */

import { check } from './document';
import { isRunning, notebooks, setRunning } from './page';
import { hasEnded, TurnStore } from './store';
import type { ElicitAction, Entered, FromCard, Model, ToCard, Turn } from './types';

const RESYNC_AGAIN_MS = 2000;
const READY_AGAIN_MS = 4000;
/** After a turn's end the kernel puts the saved turn in our place; where it does not, the page was reloaded meanwhile. */
const SAVED_MS = 1500;

interface Shared {
  store: TurnStore;
  views: number;
}

const stores = new Map<string, Shared>();
/** How many views stand, or will: also those that know nothing of their turn yet. */
const views = new Map<string, number>();

/** The turns whose notebook this page writes itself. */
const written = new Set<string>();

function count(id: string, by: number): void {
  views.set(id, (views.get(id) ?? 0) + by);
}

function isToCard(content: unknown): content is ToCard {
  const type = (content as { type?: unknown } | null)?.type;
  return type === 'snapshot' || type === 'ops' || ['bundle', 'updates', 'offers'].includes(type as string);
}

export class Link {
  store: TurnStore | null = null;
  /** Why the kernel's document cannot be drawn, where it cannot. */
  failure: string | null = null;
  /** Whether the kernel went away. */
  gone = false;

  private readonly id: string;
  private asked = -Infinity;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private saving: ReturnType<typeof setTimeout> | undefined;
  private unsubscribe: () => void = () => undefined;
  private readonly receive = (content: unknown): void => this.onMessage(content);
  private readonly lost = (): void => {
    this.gone = true;
    setRunning(this.id, false);
    this.onChange();
  };

  constructor(
    private readonly model: Model,
    private readonly onChange: () => void
  ) {
    model.on('msg:custom', this.receive);
    model.on('comm_live_update', this.lost);
    this.id = String(model.get('turn_id'));
    count(this.id, 1);
    this.join(this.id);
    this.ready();
  }

  decide(key: string, optionId: string | null): void {
    if (this.store?.send(key, optionId)) this.send({ type: 'decide', key, option_id: optionId });
  }

  /** Answer a form or an address; what was put into a form can be told again, for the kernel may refuse it. */
  elicit(key: string, action: ElicitAction, content: Entered | null): void {
    if (content || this.store?.send(key, action)) this.send({ type: 'elicit', key, action, content });
  }

  cancel(): void {
    this.send({ type: 'cancel' });
  }

  close(): void {
    clearTimeout(this.retry);
    clearTimeout(this.saving);
    this.model.off('msg:custom', this.receive);
    this.model.off('comm_live_update', this.lost);
    this.unsubscribe();
    this.release();
    count(this.id, -1);
  }

  /** Whether a turn that runs has no view any more on this page. */
  get unseen(): boolean {
    return isRunning(this.id) && !views.get(this.id);
  }

  tellCleared(): void {
    this.send({ type: 'cleared' });
  }

  send(message: FromCard): void {
    this.model.send(message);
  }

  /** Say that we listen, and say it once more if nobody answered: a comm may open after the view. */
  private ready(again = true): void {
    this.send({ type: 'ready', seq: this.store?.seq ?? 0 });
    if (again) this.retry = setTimeout(() => this.ready(false), READY_AGAIN_MS);
  }

  private onMessage(content: unknown): void {
    if (!isToCard(content)) return;
    this.gone = false;
    if (content.type === 'snapshot') this.onSnapshot(content);
    else if (content.type === 'bundle') notebooks()?.write(this.id, content.data);
    else if (content.type === 'updates') this.store?.updated(content);
    else if (content.type === 'offers') this.store?.offered(content.offers);
    else if (this.store && !this.store.ops(content)) this.resync();
  }

  private onSnapshot(message: Extract<ToCard, { type: 'snapshot' }>): void {
    clearTimeout(this.retry);
    this.asked = -Infinity;
    try {
      check(message.turn);
    } catch (error) {
      this.failure = (error as Error).message;
      this.onChange();
      return;
    }
    this.join(message.turn.turn_id, message.turn);
    this.store?.snapshot(message);
  }

  /** Share the store of that turn, made of `turn` where there is none yet. */
  private join(id: string, turn?: Turn): void {
    if (this.store?.turn.turn_id === id) return;
    const shared = stores.get(id) ?? (turn ? { store: new TurnStore(turn), views: 0 } : undefined);
    if (!shared) return;
    this.unsubscribe();
    this.release();
    shared.views += 1;
    stores.set(id, shared);
    this.store = shared.store;
    this.unsubscribe = shared.store.subscribe(() => this.changed());
    this.changed();
  }

  private changed(): void {
    const turn = this.store?.turn;
    const ended = turn && hasEnded(turn);
    if (turn) setRunning(this.id, !ended);
    if (!written.has(this.id) && notebooks()?.behind(this.id)) {
      written.add(this.id);
      this.send({ type: 'bundle' });
    }
    if (ended && this.saving === undefined) {
      this.saving = setTimeout(() => {
        if (notebooks()?.hold(this.id)) this.send({ type: 'bundle' });
      }, SAVED_MS);
    }
    this.onChange();
  }

  private release(): void {
    const id = this.store?.turn.turn_id;
    const shared = id === undefined ? undefined : stores.get(id);
    if (shared && id !== undefined && --shared.views === 0) stores.delete(id);
    this.store = null;
  }

  private resync(): void {
    const now = Date.now();
    if (now - this.asked < RESYNC_AGAIN_MS) return;
    this.asked = now;
    this.send({ type: 'resync' });
  }
}
