/** Boxes that scroll in themselves: each keeps its place when the card is drawn anew, and may follow its end. */

import { useLayoutEffect, useRef } from 'preact/hooks';
import { useCard } from './context';

/** How near its end a box still follows it, in pixels. */
const NEAR = 12;

interface Scrolling<Box> {
  ref: { current: Box | null };
  onScroll: () => void;
}

/**
 * Keep the place of the box `id`, beyond this card.
 *
 * @param follows Whether it stays at its end while it grows, unless its reader has scrolled away.
 */
export function useScroll<Box extends HTMLElement = HTMLDivElement>(id: string, follows: boolean): Scrolling<Box> {
  const { ui } = useCard();
  const ref = useRef<Box>(null);
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
  const latest = useRef(settle);
  latest.current = settle;
  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return undefined;
    let placed = false;
    const look = (): void => {
      const at = ui.get(place);
      // a box that is not in the page yet cannot be scrolled
      if (!placed && box.isConnected && typeof at === 'number') box.scrollTop = at;
      placed ||= box.isConnected;
      latest.current();
    };
    look();
    // Its own size changes when it comes into the page, and whenever it begins or ends to scroll; it is told
    // before the frame is painted.
    const sizes = new ResizeObserver(look);
    sizes.observe(box);
    return () => sizes.disconnect();
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
