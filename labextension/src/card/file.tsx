import type { JSX, TargetedMouseEvent } from 'preact';
import { useState } from 'preact/hooks';
import { files } from '../page';
import { pathTrouble } from '../text/paths';
import { useCard } from './context';
import { Code, seen } from './seen';

interface Props {
  path: string;
  /** Where to go in it, from 1. */
  line: number | null;
  /** How it is told. */
  text: string;
}

const NOT_HERE = 'This file is not among those that the Jupyter server shows, so it cannot be opened from here.';

/** A file that the agent names; where it is one of the session's and of the server's, a click opens it. */
export function File({ path, line, text }: Props): JSX.Element {
  const { turn } = useCard().store;
  const here = pathTrouble(path, turn) === null ? files()?.has(path) : undefined;
  if (here) return <Open path={path} line={line} text={text} />;
  return <span title={here === false ? NOT_HERE : undefined}><Code text={text} /></span>;
}

function Open({ path, line, text }: Props): JSX.Element {
  const [failed, tell] = useState<string | null>(null);
  const open = async ({ currentTarget }: TargetedMouseEvent<HTMLElement>): Promise<void> => {
    tell((await files()?.open({ path, line }, currentTarget)) ?? null);
  };
  return (
    <>
      <button type="button" class="acp-file" title={`Open ${seen(path)}${line === null ? '' : ` at line ${line}`}`} onClick={open}><Code text={text} /></button>
      <span role="status" class="acp-bad" dir="ltr">{failed}</span>
    </>
  );
}
