import { useEffect, useReducer, useRef } from 'preact/hooks';
import { BOX_REST_MS } from './rest-ms';

export { BOX_REST_MS };

/** Whether a box has only just appeared; it is drawn anew when it has rested. */
export function useRest(active: boolean): () => boolean {
  const appeared = useRef(performance.now());
  const was = useRef(active);
  if (active && !was.current) appeared.current = performance.now();
  was.current = active;
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const left = (): number => (active ? appeared.current + BOX_REST_MS - performance.now() : 0);
  const drawnResting = left() > 0;
  useEffect(() => {
    if (!drawnResting) return undefined;
    // it may be over by now, but was not when this was drawn; and a timer drops fractions
    const timer = setTimeout(() => redraw(undefined as never), Math.ceil(Math.max(left(), 0)));
    return () => clearTimeout(timer);
  });
  return () => left() > 0;
}
