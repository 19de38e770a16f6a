/** The card's gallery: every state of it, live where it is, without a kernel. `npm run gallery`, then open `gallery/dist/index.html`. */

import { mountLive, mountSaved } from '../src/renderer';
import type { Model, ToCard, Turn } from '../src/types';

interface Exhibit {
  name: string;
  /** When a live turn is looked at, by its own clock. */
  now: number;
  turn: Turn;
}

/** What `examples/gallery.py` prints; the build puts it in. */
declare const EXHIBITS: Exhibit[];

const LIVE = ['starting', 'running', 'waiting'];

/** A kernel that answers `ready` with a snapshot, and logs what else it is told. */
function kernel(turn: Turn): Model {
  const handlers: ((content: unknown) => void)[] = [];
  return {
    get: () => undefined,
    on: (event, handler) => void (event === 'msg:custom' && handlers.push(handler)), // it never goes away
    off: () => undefined,
    send(content) {
      console.log(JSON.stringify(content));
      const snapshot: ToCard = { type: 'snapshot', seq: 0, now: Date.now() / 1000, turn };
      if (content.type === 'ready') queueMicrotask(() => handlers.forEach(handler => handler(snapshot)));
    }
  };
}

/** The same with every time moved, so that a live turn has run as long whenever it is looked at. */
function moved(value: unknown, seconds: number): unknown {
  if (Array.isArray(value)) return value.map(one => moved(one, seconds));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [
    key,
    key.endsWith('_at') && typeof one === 'number' ? one + seconds : moved(one, seconds)
  ]);
  return Object.fromEntries(entries);
}

function frame(name: string): HTMLElement {
  const title = document.createElement('h4');
  title.textContent = name;
  const made = document.createElement('div');
  document.querySelector('main')?.append(title, made);
  return made;
}

function hang({ name, now, turn }: Exhibit): void {
  if (LIVE.includes(turn.state)) mountLive(kernel(moved(turn, Date.now() / 1000 - now) as Turn), frame(name));
  else mountSaved(turn, frame(name));
}

const wanted = new URLSearchParams(location.search);
document.body.dataset.jpThemeLight = String(wanted.get('theme') !== 'dark');
document.querySelector('button')?.addEventListener('click', () => {
  document.body.dataset.jpThemeLight = String(document.body.dataset.jpThemeLight !== 'true');
});
EXHIBITS.forEach(hang);
mountSaved({ version: 2 }, frame('saved by a later version'));
