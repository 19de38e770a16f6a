import type { JSX } from 'preact';
import { fromCwd, pathTrouble } from '../text/paths';
import { visible } from '../text/visible';
import { changedAt, commandLine, pathsOf, toolInput } from '../tool-input';
import type { Diff, Permission, ToolCall } from '../types';
import { ContentView, withPath } from './content';
import { useCard, useUi } from './context';
import { Totals } from './diff';
import { File } from './file';
import { Icon } from './icons';
import { PermissionView } from './permission';
import { Raw } from './raw';
import { Code, Seen } from './seen';
import { Status, shownStatus } from './status';
import { kindWords, knownKind } from './words';

interface Props {
  call: ToolCall;
  /** Its place among the turn's tool calls. */
  index: number;
  permissions: Permission[];
}

/** A tool call: what it does and to what, what came of it, and what is asked about it. */
export function ToolCallView({ call, index, permissions }: Props): JSX.Element {
  const asking = permissions.some(permission => permission.state === 'open');
  const command = commandLine(call);
  const block = command !== null && !asking && isLong(command) ? command : null;
  return (
    <section
      class="acp-tool-call"
      data-kind={call.kind}
      data-status={shownStatus(call)}
      data-tool-call-id={call.tool_call_id}
      data-asking={asking || undefined}
    >
      <div class="acp-tool-head">
        <Icon name={kindWords(call.kind).icon} />
        <span class="acp-what">
          <What call={call} command={block === null && !asking ? command : null} />
          {withoutAsking(call, permissions) ? <span class="acp-pill acp-pill-wait">without asking</span> : null}
        </span>
        <Raw call={call} index={index} />
        <Status call={call} permissions={permissions} />
      </div>
      {block === null ? null : <pre class="acp-command" dir="ltr"><Seen text={block} /></pre>}
      {call.content.map((item, place) => <ContentView key={place} item={item} call={call} id={`${call.tool_call_id}:${place}`} />)}
      {permissions.map(permission => <PermissionView key={permission.key} permission={permission} call={call} />)}
    </section>
  );
}

const TOUCHING = ['edit', 'delete', 'move', 'execute'];

/** Whether a call that changes things went ahead though the agent asked nothing about it, neither a person nor a policy. */
export function withoutAsking(call: ToolCall, permissions: Permission[]): boolean {
  const ran = ['in_progress', 'completed', 'failed'].includes(call.status);
  return TOUCHING.includes(call.kind) && ran && permissions.length === 0;
}

const LONG_COMMAND = 100;

/** Whether a command is better read in a block of its own. */
function isLong(command: string): boolean {
  return command.length > LONG_COMMAND || command.includes('\n') || visible(command).length > 1;
}

const SHOWN_PATHS = 3;

function What({ call, command }: { call: ToolCall; command: string | null }): JSX.Element {
  const { store } = useCard();
  const { verb } = kindWords(call.kind);
  const [all, setAll] = useUi<boolean>(`paths:${call.tool_call_id}`, false);
  const { url, ...input } = toolInput(call.raw_input);
  const isCommand = call.kind === 'execute' && (command !== null || input.command !== null);
  const places = isCommand ? [] : placesOf(call);
  const shown = all ? places : places.slice(0, SHOWN_PATHS);
  const address = places.length === 0 && !isCommand ? url : null;
  const words = [verb, command ?? '', input.command ?? '', ...places.map(([path]) => path), address ?? ''].join(' ');
  const diffs = call.content.filter((item): item is Diff => item.type === 'diff');
  return (
    <>
      <span class="acp-verb">{isCommand && command === null ? 'Run a command' : verb}</span>
      {command === null ? null : <Code text={command} />}
      {shown.map(([path, line]) => {
        const trouble = pathTrouble(path, store.turn);
        const text = fromCwd(path, store.turn.cwd) + (line === null ? '' : `:${line}`);
        return (
          <span key={`${path}:${line}`} class="acp-place">
            <File path={path} line={line ?? changedAt(diffs.find(diff => diff.path === path))} text={text} />
            {trouble ? <span class="acp-pill acp-pill-bad">{trouble}</span> : null}
          </span>
        );
      })}
      {places.length > shown.length ? (
        <button type="button" class="acp-more" onClick={() => setAll(true)}>and {places.length - shown.length} more</button>
      ) : null}
      {address ? <Code text={address} /> : null}
      {diffs.length > 0 ? <Totals added={sum(diffs, 'added')} removed={sum(diffs, 'removed')} /> : null}
      {diffs.length === 1 && diffs[0]?.is_new && !withPath(call) ? <span class="acp-pill">new file</span> : null}
      <Labels call={call} shown={words} />
    </>
  );
}

/** The agent's own words, where they add to what is shown already. */
function Labels({ call, shown }: { call: ToolCall; shown: string }): JSX.Element {
  return (
    <>
      {adds(call.title, shown) ? <span class="acp-title">“<Seen text={call.title} />”</span> : null}
      {knownKind(call.kind) ? null : <span class="acp-label"><Seen text={call.kind} /></span>}
      {call.name ? <span class="acp-label"><Seen text={call.name} /></span> : null}
    </>
  );
}

function adds(title: string, shown: string): boolean {
  const words = title.toLowerCase().match(/[\p{L}\p{N}._/-]+/gu) ?? [];
  return words.length > 0 && !words.every(word => shown.toLowerCase().includes(word));
}

function placesOf(call: ToolCall): [string, number | null][] {
  const located = call.locations.map(({ path, line }): [string, number | null] => [path, line]);
  const paths = new Set(located.map(([path]) => path));
  const rest = pathsOf(call).filter(path => !paths.has(path));
  return [...located, ...rest.map((path): [string, null] => [path, null])];
}

function sum(diffs: Diff[], key: 'added' | 'removed'): number {
  return diffs.reduce((total, diff) => total + diff[key], 0);
}
