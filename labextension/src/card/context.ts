/** What every part of a card may reach: the turn, what is open, and what a person can do. */

import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useRef } from 'preact/hooks';
import type { Ui, UiValue } from '../page';
import type { TurnStore } from '../store';
import type { ElicitAction, Entered, FromCard } from '../types';

export interface Card {
  store: TurnStore;
  /** Whether a kernel listens; a saved card is inert. */
  live: boolean;
  /** Whether the kernel went away while the card was live. */
  gone?: boolean;
  ui: Ui;
  decide(key: string, optionId: string | null): void;
  elicit(key: string, action: ElicitAction, content: Entered | null): void;
  cancel(): void;
  send(message: FromCard): void;
}

const Context = createContext<Card | null>(null);

export const CardProvider = Context.Provider;

export function useCard(): Card {
  const card = useContext(Context);
  if (!card) throw new Error('a part of a card outside a card');
  return card;
}

function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  return () => redraw(undefined as never);
}

/** A value kept for the turn under `key`, beyond this card: what is open stays open in the saved one. */
export function useUi<T extends UiValue>(key: string, initial: T): [T, (value: T) => void] {
  const { ui } = useCard();
  const redraw = useRedraw();
  if (!ui.has(key)) ui.set(key, initial);
  const set = (value: T): void => {
    ui.set(key, value);
    redraw();
  };
  return [ui.get(key) as T, set];
}

const COPY = Math.random().toString(36).slice(2);
let made = 0;

/** An element's id that no other card of the page has, whichever copy of this code draws it; `useId` begins anew in each. */
export function useUniqueId(): string {
  const id = useRef('');
  return (id.current ||= `acp-${COPY}-${++made}`);
}

/** The kernel's time now, in Unix seconds; drawn anew every `period_ms` while `active`. */
export function useNow(active: boolean, period_ms: number): number {
  const { store } = useCard();
  const redraw = useRedraw();
  useEffect(() => {
    if (!active) return undefined;
    const timer = setInterval(redraw, period_ms);
    return () => clearInterval(timer);
  }, [active, period_ms]);
  return Date.now() / 1000 + store.clockOffset;
}
