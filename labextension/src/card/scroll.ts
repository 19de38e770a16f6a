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
  const [place, away] = [`scroll:${id}`, `away:${id}`];
  useLayoutEffect(() => {
    const restore = (): void => {
      const at = ui.get(place);
      if (ref.current && typeof at === 'number') ref.current.scrollTop = at;
    };
    // a box that is not in the page yet cannot be scrolled
    if (ref.current?.isConnected) restore();
    else requestAnimationFrame(restore);
  }, []);
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    if (follows && ui.get(away) !== true) box.scrollTop = box.scrollHeight;
    // what scrolls can be reached by keyboard, what does not is no stop on the way
    const stop = box.scrollHeight > box.clientHeight + 1 ? 0 : -1;
    if (box.tabIndex !== stop || !box.hasAttribute('tabindex')) box.tabIndex = stop;
  });
  const onScroll = (): void => {
    const box = ref.current;
    if (!box?.isConnected) return;
    ui.set(place, box.scrollTop);
    ui.set(away, box.scrollHeight - box.scrollTop - box.clientHeight > NEAR);
  };
  return { ref, onScroll };
}
