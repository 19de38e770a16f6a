/** The card's gallery: every state of it, without a kernel. `npm run gallery`, then open `gallery/dist/index.html`. */

import { mountLive, mountSaved } from '../src/renderer';
import type { Model, ToCard, Turn } from '../src/types';
import exhibits from './turns.json';

interface Exhibit {
  name: string;
  live?: boolean;
  /** Seconds that a live turn has run. */
  elapsed?: number;
  width?: number;
  turn: unknown;
}

/** A kernel that answers `ready` with a snapshot, and logs what else it is told. */
function kernel(turn: Turn): Model {
  const handlers: ((content: unknown) => void)[] = [];
  return {
    get: () => undefined,
    on: (_event, handler) => void handlers.push(handler),
    off: () => undefined,
    send(content) {
      console.log(JSON.stringify(content));
      const snapshot: ToCard = { type: 'snapshot', seq: 0, now: Date.now() / 1000, turn };
      if (content.type === 'ready') queueMicrotask(() => handlers.forEach(handler => handler(snapshot)));
    }
  };
}

/** A live turn began `elapsed` seconds ago, whenever it is looked at. */
function startedNow(turn: Turn, elapsed: number): Turn {
  const now = Date.now() / 1000;
  const calls = Object.values(turn.tool_calls).filter(call => String(call.started_at).startsWith('NOW'));
  for (const call of calls) call.started_at = now + Number(String(call.started_at).slice(3));
  return { ...turn, started_at: now - elapsed };
}

function hang(exhibit: Exhibit): void {
  const title = document.createElement('h4');
  title.textContent = exhibit.name;
  const frame = document.createElement('div');
  frame.style.maxWidth = exhibit.width ? `${exhibit.width}px` : '';
  document.querySelector('main')?.append(title, frame);
  if (exhibit.live) mountLive(kernel(startedNow(exhibit.turn as Turn, exhibit.elapsed ?? 0)), frame);
  else mountSaved(exhibit.turn, frame);
}

const wanted = new URLSearchParams(location.search);
document.body.dataset.jpThemeLight = String(wanted.get('theme') !== 'dark');
document.querySelector('button')?.addEventListener('click', () => {
  document.body.dataset.jpThemeLight = String(document.body.dataset.jpThemeLight !== 'true');
});
(exhibits as Exhibit[]).forEach(hang);
