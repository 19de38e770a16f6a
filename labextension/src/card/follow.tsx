import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { files } from '../page';
import { fromCwd } from '../text/paths';
import type { Turn } from '../types';
import { workedOn } from '../worked-on';
import { File } from './file';
import { Icon } from './icons';
import { seen } from './seen';
import { kindWords } from './words';

/** In the head of a card that runs: the file and line that the agent works on, and a button to follow it there. */
export function WorkedOn({ turn }: { turn: Turn }): JSX.Element {
  const at = workedOn(turn);
  return (
    <span class="acp-worked-on">
      {at ? <Icon name={kindWords(at.call.kind).icon} label={kindWords(at.call.kind).verb} /> : null}
      <span class="acp-worked-on-file" title={at ? seen(at.path) : undefined}>
        {at ? <File path={at.path} line={at.line} text={fromCwd(at.path, turn.cwd) + (at.line === null ? '' : `:${at.line}`)} /> : null}
      </span>
      {files()?.following ? <Follow /> : null}
    </span>
  );
}

function Follow(): JSX.Element {
  const button = useRef<HTMLButtonElement>(null);
  const [on, setOn] = useState(false);
  useLayoutEffect(() => {
    const node = button.current;
    if (!node) return undefined;
    // a card is drawn before it stands in its notebook
    const arrival = new ResizeObserver(() => setOn(files()?.following?.has(node) === true));
    arrival.observe(node);
    return () => arrival.disconnect();
  }, []);
  const toggle = (): void => {
    if (button.current) files()?.following?.set(button.current, !on);
    setOn(!on);
  };
  return (
    <button type="button" class="acp-more acp-follow" aria-pressed={on} title="Open the files that the agent works on beside the notebook" ref={button} onClick={toggle}>Follow</button>
  );
}
