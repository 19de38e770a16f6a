/** Boxes that scroll in themselves: each keeps its place when the card is drawn anew, and may follow its end. */

import { useLayoutEffect, useRef } from 'preact/hooks';
import { useCard } from './context';

/** How near its end a box still follows it, in pixels. */
const NEAR = 12;

interface Scrolling {
  ref: { current: HTMLDivElement | null };
  onScroll: () => void;
}

/**
 * Keep the place of the box `id`, beyond this card.
 *
 * @param follows Whether it stays at its end while it grows, unless its reader has scrolled away.
 */
export function useScroll(id: string, follows: boolean): Scrolling {
  const { ui } = useCard();
  const ref = useRef<HTMLDivElement>(null);
  const [place, away, followed] = [`scroll:${id}`, `away:${id}`, `followed:${id}`];
  const settle = (): void => {
    const box = ref.current;
    if (!box) return;
    // what comes last comes with the end: who has followed until then sees it too
    if (box.isConnected) {
      if (ui.get(away) !== true && (follows || ui.get(followed) === true)) box.scrollTop = box.scrollHeight;
      ui.set(followed, follows);
    }
    // what scrolls can be reached by keyboard, what does not is no stop on the way
    const stop = box.scrollHeight > box.clientHeight + 1 ? 0 : -1;
    if (box.tabIndex !== stop || !box.hasAttribute('tabindex')) box.tabIndex = stop;
  };
  useLayoutEffect(() => {
    const restore = (): void => {
      const at = ui.get(place);
      if (ref.current && typeof at === 'number') ref.current.scrollTop = at;
      settle();
    };
    // a box that is not in the page yet cannot be scrolled
    if (ref.current?.isConnected) restore();
    else requestAnimationFrame(restore);
  }, []);
  useLayoutEffect(settle);
  const onScroll = (): void => {
    const box = ref.current;
    if (!box?.isConnected) return;
    ui.set(place, box.scrollTop);
    ui.set(away, box.scrollHeight - box.scrollTop - box.clientHeight > NEAR);
  };
  return { ref, onScroll };
}
