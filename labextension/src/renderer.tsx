/** Draw a turn into an element, live or saved. The same code is the live card's and the labextension's. */

import { render } from 'preact';
import { CardProvider, type Card } from './card/context';
import { Part } from './card/part';
import { TurnView } from './card/turn';
import { readTurn } from './document';
import { Link } from './live';
import { uiOf } from './page';
import { guardShortcuts } from './shortcuts';
import { TurnStore } from './store';
import { ensureStyle } from './style';
import type { Model } from './types';

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

function draw(root: Element, card: Card): void {
  // The root is drawn anew each time, and cheaply: its parts look at their own revisions.
  drawn += 1;
  render(
    <CardProvider value={card}>
      <Part rev={String(drawn)}><TurnView /></Part>
    </CardProvider>,
    root
  );
}

/** Draw the live card of `model`'s turn into `el`. */
export function mountLive(model: Model, el: Element): Dispose {
  const root = place(el);
  let card: Card | null = null;
  let frame = 0;
  line(root, 'acp-connecting', 'Waiting for the kernel…');

  const paint = (): void => {
    frame = 0;
    if (link.failure !== null) {
      render(null, root);
      return line(root, 'acp-failure', link.failure);
    }
    const { store } = link;
    if (!store) return;
    if (!card) root.replaceChildren();
    if (card?.store !== store) card = liveCard(link, store);
    draw(root, card);
  };
  const link = new Link(model, () => {
    frame ||= requestAnimationFrame(paint);
  });
  return () => {
    cancelAnimationFrame(frame);
    link.close();
    render(null, root);
    root.remove();
  };
}

function liveCard(link: Link, store: TurnStore): Card {
  return {
    store,
    live: true,
    ui: uiOf(store.turn.turn_id),
    decide: (key, optionId) => link.decide(key, optionId),
    cancel: () => link.cancel()
  };
}

/** Draw the saved turn `doc` into `el`, inert. A document that cannot be read gives one clear line. */
export function mountSaved(doc: unknown, el: Element): Dispose {
  const root = place(el);
  try {
    const turn = readTurn(doc);
    const store = new TurnStore(turn);
    draw(root, { store, live: false, ui: uiOf(turn.turn_id), decide: () => undefined, cancel: () => undefined });
  } catch (error) {
    line(root, 'acp-failure', error instanceof Error ? error.message : String(error));
  }
  return () => {
    render(null, root);
    root.remove();
  };
}
