import type { JSX } from 'preact';
import { own } from '../ops';
import { exitWords } from '../store';
import { duration } from '../text/format';
import type { Permission, Terminal, ToolCall } from '../types';
import { useCard, useNow } from './context';
import { Icon } from './icons';
import { Seen } from './seen';

const TICK_MS = 200;

/** What is shown of a call's state: our own knowledge where we have it, else the agent's word. */
export function shownStatus(call: ToolCall): string {
  return call.local_status ?? call.status;
}

interface Told {
  tone: 'ok' | 'bad' | 'wait' | 'quiet';
  words: string;
}

/** The last terminal of a call that has come to an end. */
function endOf(call: ToolCall, terminals: Record<string, Terminal>): Terminal | undefined {
  const all = call.content.flatMap(item => (item.type === 'terminal' ? (own(terminals, item.terminal_id) ?? []) : []));
  return all.filter(terminal => exitWords(terminal) !== null).at(-1);
}

function told(call: ToolCall, end: Terminal | undefined, asking: boolean): Told {
  const status = shownStatus(call);
  if (asking) return { tone: 'wait', words: 'waiting for you' };
  if (status === 'cancelled') return { tone: 'quiet', words: 'cancelled' };
  if (status === 'cut_off') return { tone: 'quiet', words: 'cut off' };
  if (status === 'not_told') return { tone: 'quiet', words: 'the agent did not tell its end' };
  if (status === 'completed' || status === 'failed') {
    const exit = end ? exitWords(end) : null;
    if (exit !== null && end?.exit_code !== 0) return { tone: 'bad', words: exit };
    return status === 'failed' ? { tone: 'bad', words: 'failed' } : { tone: 'ok', words: exit ?? '' };
  }
  if (status === 'in_progress') return { tone: 'quiet', words: 'running' };
  return { tone: 'quiet', words: status };
}

/** A call's status and how long it took, or takes. */
export function Status({ call, permissions }: { call: ToolCall; permissions: Permission[] }): JSX.Element {
  const { store, live } = useCard();
  const asking = permissions.some(permission => permission.state === 'open');
  const { tone, words } = told(call, endOf(call, store.turn.terminals), asking);
  const running = live && !asking && shownStatus(call) === 'in_progress';
  return (
    <span class="acp-status" data-tone={tone}>
      {tone === 'ok' ? <Icon name="check" label="completed" /> : null}
      {tone === 'bad' ? <Icon name="cross" label="failed" /> : null}
      <Seen text={words} />
      <Took from={asking ? null : workBegan(call, permissions)} call={call} running={running} after={words !== ''} />
    </span>
  );
}

/** When a call's own work began: a person's time to think is not part of it. Null where it was not allowed. */
function workBegan(call: ToolCall, permissions: Permission[]): number | null {
  const last = permissions.at(-1);
  if (call.started_at === null || (last && !isAllowed(last))) return null;
  return Math.max(call.started_at, ...permissions.map(permission => permission.decided_at ?? 0));
}

function isAllowed({ state, option_id, options }: Permission): boolean {
  const chosen = options.find(option => option.option_id === option_id);
  return state === 'selected' && (chosen?.kind ?? '').startsWith('allow');
}

interface TookProps {
  from: number | null;
  call: ToolCall;
  running: boolean;
  after: boolean;
}

function Took({ from, call, running, after }: TookProps): JSX.Element | null {
  const now = useNow(running, TICK_MS);
  const to = call.ended_at ?? (running ? now : null);
  if (from === null || to === null) return null;
  return <>{after ? ' · ' : ''}{duration(to - from)}</>;
}
