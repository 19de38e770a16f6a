import type { JSX, TargetedEvent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { hasEnded } from '../store';
import { clock, duration, money, tokens } from '../text/format';
import type { Offer, Turn, Usage } from '../types';
import { useCard, useNow } from './context';
import { WorkedOn } from './follow';
import { Icon } from './icons';
import { agentName } from './asked';
import { Code, Seen, seen } from './seen';
import { errorWords, stopWords } from './words';

interface Props {
  /** Keys of the open requests, in order. */
  open: string[];
  focus: (key: string) => void;
}

/** The card's head: who, in which state, for how long, at what cost; and Stop. */
export function Header({ open, focus }: Props): JSX.Element {
  const { store, live, gone } = useCard();
  const { turn } = store;
  const running = !hasEnded(turn);
  const models = turn.options.filter(option => option.category === 'model');
  const offered = (category: string): boolean => running && live && store.offers.some(one => one.category === category);
  return (
    <div class="acp-header">
      <span class="acp-dot" aria-hidden="true" />
      <b class="acp-agent" title={turn.agent.version ? `${turn.agent.name} ${turn.agent.version}` : turn.agent.name}>
        <Seen text={agentName(turn.agent)} />
      </b>
      {running && live ? <Pickers turn={turn} /> : null}
      {turn.mode && !offered('mode') ? <span class="acp-pill acp-mode" title="the agent’s mode"><Seen text={turn.mode.name || turn.mode.id} /></span> : null}
      {models.filter(() => !offered('model')).map(option => <span key={option.id} class="acp-pill" title={option.name}><Seen text={option.value} /></span>)}
      <StateWords turn={turn} unfinished={live ? null : gone ? 'cut off: the kernel is gone' : 'not finished when this was saved'} />
      <span class="acp-header-end">
        {live && open.length > 0 ? <Queue open={open} focus={focus} /> : null}
        {running && live ? <Elapsed turn={turn} /> : null}
        {turn.usage ? <Meter usage={turn.usage} cost={running ? turn.usage.cost : null} /> : null}
        {running && live ? <Stop requested={turn.cancel_requested === true} /> : null}
      </span>
    </div>
  );
}

/** What may be chosen while the turn runs; the kernel is asked for it again whenever something was. */
function Pickers({ turn }: { turn: Turn }): JSX.Element {
  const { store, send } = useCard();
  const chosen = JSON.stringify([turn.mode, turn.options, turn.session_id]);
  useEffect(() => send({ type: 'offers' }), [chosen]);
  return <>{store.offers.slice(0, PICKERS).map(offer => <Picker key={`${offer.option_id} ${offer.value}`} offer={offer} />)}</>;
}

function Picker({ offer: { option_id, name, category, value, groups } }: { offer: Offer }): JSX.Element {
  const { send } = useCard();
  const [sent, setSent] = useState(false);
  const onChange = (event: TargetedEvent<HTMLSelectElement>): void => {
    send({ type: 'choose', option_id, value: event.currentTarget.value });
    setSent(true);
    setTimeout(() => setSent(false), CHOSEN_MS); // where it was refused, the old value stands again
  };
  const label = seen(name);
  return (
    <select class={`acp-pill acp-picker${category === 'mode' ? ' acp-mode' : ''}`} aria-label={label} title={label} aria-busy={sent} value={value ?? ''} onChange={onChange}>
      {value === null ? <option value="">{label}</option> : null}
      {groups.map(group => {
        const options = group.values.map(one => <option key={one.value} value={one.value}>{seen(one.name)}</option>);
        return group.name === null ? options : <optgroup label={seen(group.name)}>{options}</optgroup>;
      })}
    </select>
  );
}

const CHOSEN_MS = 4000;
/** Of more options the head would be all pickers; `%acp set` has the rest. */
const PICKERS = 4;

function StateWords({ turn, unfinished }: { turn: Turn; unfinished: string | null }): JSX.Element {
  const took = turn.started_at !== null && turn.ended_at !== null ? ` · ${duration(turn.ended_at - turn.started_at)}` : '';
  const why = turn.state === 'done' ? stopWords(turn.stop_reason) : null;
  const words = unfinished !== null && !hasEnded(turn) ? unfinished : turn.replayed ? 'told by the agent from its memory' : stateWords(turn);
  return <span class="acp-state">{<Seen text={words} />}{why ? <> · <Seen text={why} /></> : null}{took}</span>;
}

function stateWords(turn: Turn): string {
  if (turn.state === 'waiting') return Object.values(turn.permissions).some(one => one.state === 'open') ? 'waiting for your approval' : 'needs your answer';
  if (turn.state === 'starting') return 'starting…';
  if (turn.state === 'failed') return turn.error ? errorWords(turn.error) : 'stopped';
  return turn.state;
}

function Elapsed({ turn }: { turn: Turn }): JSX.Element | null {
  const now = useNow(true, 1000);
  return turn.started_at === null ? null : <span class="acp-elapsed">{clock(now - turn.started_at)}</span>;
}

function Meter({ usage, cost }: { usage: Usage; cost: Usage['cost'] }): JSX.Element {
  const share = usage.size > 0 ? Math.min(1, usage.used / usage.size) : 0;
  const exact = `${usage.used.toLocaleString('en-US')} of ${usage.size.toLocaleString('en-US')} tokens of context used`;
  return (
    <span class="acp-usage" title={exact}>
      <span class="acp-meter" data-full={share >= 0.85 || undefined} role="img" aria-label={exact}>
        <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </span>
      <span>{tokens(usage.used)} / {tokens(usage.size)}{cost ? ` · ${money(cost)}` : ''}</span>
    </span>
  );
}

function Queue({ open, focus }: Props): JSX.Element {
  const [visited, setVisited] = useState<string | null>(null);
  const at = visited === null ? -1 : open.indexOf(visited);
  const next = (): void => {
    const key = open[(at + 1) % open.length] as string;
    setVisited(key);
    focus(key);
  };
  return (
    <span class="acp-queue">
      {open.length > 1 ? `${Math.max(at, 0) + 1} of ${open.length}` : null}
      <button type="button" class="acp-button acp-next" onClick={next}>{open.length > 1 ? 'next' : 'show'}</button>
    </span>
  );
}

function Stop({ requested }: { requested: boolean }): JSX.Element {
  const { cancel } = useCard();
  const [clicked, setClicked] = useState(false);
  const stop = (): void => {
    setClicked(true);
    cancel();
  };
  return (
    <button type="button" class="acp-button acp-stop" onClick={stop}>
      <Icon name="stop" />
      {clicked || requested ? 'Stopping…' : 'Stop'}
    </button>
  );
}

/** A quiet second line: the session's title, where it works, the policy in force, and the file that the agent works on. */
export function SubHeader(): JSX.Element {
  const { store, live } = useCard();
  const { turn } = store;
  return (
    <div class="acp-subheader">
      {turn.title ? <span class="acp-session-title"><Seen text={turn.title} /></span> : null}
      {turn.cwd ? <span title="working directory"><Code text={turn.cwd} /></span> : null}
      {turn.additional_directories.map(path => <span key={path} title="further directory">+ <Code text={path} /></span>)}
      {turn.policy !== 'ask' && turn.policy !== LOUD ? <span>policy: <b><Seen text={turn.policy} /></b></span> : null}
      {live && !hasEnded(turn) ? <WorkedOn turn={turn} /> : null}
    </div>
  );
}

const LOUD = 'allow-once-all';

/** The warning that nobody is asked. */
export function LoudPolicy(): JSX.Element | null {
  const { turn } = useCard().store;
  if (turn.policy !== LOUD) return null;
  return <div class="acp-loud" role="note"><Icon name="warn" /><span>every request is allowed without asking: <b>{LOUD}</b></span></div>;
}
