/** Draw a turn into an element, live or saved. The same code is the live card's and the labextension's. */

import { render } from 'preact';
import { Alone } from './card/alone';
import { CardProvider, type Card } from './card/context';
import { Part } from './card/part';
import { TurnView } from './card/turn';
import { readTurn } from './document';
import { restoreFocus, rememberFocus } from './focus';
import { Link } from './live';
import { cardsChanged, liveCards, notebooks, uiOf } from './page';
import { Place } from './place';
import { guardShortcuts } from './shortcuts';
import { TurnStore } from './store';
import { ensureStyle } from './style';
import type { Model } from './types';

const CLEARED_MS = 1000;

/** Take everything down again. */
export type Dispose = () => void;

function place(el: Element): HTMLElement {
  ensureStyle(el);
  guardShortcuts();
  const root = document.createElement('div');
  root.className = 'acp-root';
  el.append(root);
  return root;
}

function line(root: Element, className: string, text: string): void {
  const node = document.createElement('div');
  node.className = className;
  node.textContent = text;
  root.replaceChildren(node);
}

let drawn = 0;

function draw(root: Element, card: Card, part = ''): void {
  // The root is drawn anew each time, and cheaply: its parts look at their own revisions.
  drawn += 1;
  render(
    <CardProvider value={card}>
      <Part rev={String(drawn)}>{part ? <Alone part={part} /> : <TurnView />}</Part>
    </CardProvider>,
    root
  );
}

/** Draw the live card of `model`'s turn, or the part of it that `model` names, into `el`. */
export function mountLive(model: Model, el: Element): Dispose {
  const root = place(el);
  const stands = new Place(el);
  const part = String(model.get('part') ?? '');
  let card: Card | null = null;
  let frame = 0;
  let over = false;
  line(root, 'acp-connecting', 'Waiting for the kernel…');

  const paint = (): void => {
    frame = 0;
    stands.look();
    if (stands.replaced) return dispose();
    if (link.failure !== null) {
      render(null, root);
      return line(root, 'acp-failure', link.failure);
    }
    const { store } = link;
    if (!store) return;
    if (!card) begin(root, store);
    if (card?.store !== store || card.gone !== link.gone) card = liveCard(link, store);
    draw(root, card, part);
  };
  const schedule = (): void => {
    frame ||= requestAnimationFrame(paint);
    cardsChanged(); // a hidden page paints nothing
  };
  const link = new Link(model, schedule);
  const joined = { root, turn: () => (link.gone ? null : (link.store?.turn ?? null)), cancel: () => link.cancel() };
  liveCards().add(joined);
  const dispose = (): void => {
    if (over) return;
    over = true;
    cancelAnimationFrame(frame);
    liveCards().delete(joined);
    link.close();
    render(null, root);
    root.remove();
    cardsChanged();
    // a moment, in which the view of a cell that was moved, or written anew, comes up; our extension sees by itself
    if (!notebooks()) setTimeout(() => link.unseen && stands.cleared && link.tellCleared(), CLEARED_MS);
  };
  // Another view of the turn may be on this page already: then all is known, and nothing flickers.
  if (link.store) paint();
  schedule();
  return dispose;
}

/** Make room for a card, and give it the focus that the one before it had. */
function begin(root: HTMLElement, store: TurnStore): void {
  const ui = uiOf(store.turn.turn_id);
  root.replaceChildren();
  rememberFocus(root, ui);
  // as soon as it stands in the page, before that is painted
  const arrival = new ResizeObserver(() => {
    arrival.disconnect();
    restoreFocus(root, ui);
  });
  arrival.observe(root);
}

function liveCard(link: Link, store: TurnStore): Card {
  return {
    store,
    live: !link.gone,
    gone: link.gone,
    ui: uiOf(store.turn.turn_id),
    decide: (key, optionId) => link.decide(key, optionId),
    elicit: (key, action, content) => link.elicit(key, action, content),
    cancel: () => link.cancel(),
    send: message => link.send(message)
  };
}

/** Draw the saved turn `doc` into `el`, inert. A document that cannot be read gives one clear line. */
export function mountSaved(doc: unknown, el: Element): Dispose {
  const root = place(el);
  try {
    const turn = readTurn(doc);
    const store = new TurnStore(turn);
    begin(root, store);
    const inert = (): void => undefined;
    draw(root, { store, live: false, ui: uiOf(turn.turn_id), decide: inert, elicit: inert, cancel: inert, send: inert });
  } catch (error) {
    line(root, 'acp-failure', error instanceof Error ? error.message : String(error));
  }
  return () => {
    render(null, root);
    root.remove();
  };
}
