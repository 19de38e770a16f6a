import type { JSX } from 'preact';
import { pathsOf, saysMore, toolInput, type ToolInput } from '../tool-input';
import type { Permission, ToolCall } from '../types';
import { ContentView } from './content';
import { useCard } from './context';
import { Code, Seen } from './seen';
import { kindWords, knownKind } from './words';

/** What is to be seen in full before anybody says yes: a sentence of ours, paths, the whole command, the agent's own words. */
export function Operation({ call, wants }: { call: ToolCall | undefined; wants: 'wants' | 'wanted' }): JSX.Element {
  const { agent } = useCard().store.turn;
  const input = toolInput(call?.raw_input ?? null);
  const paths = call ? pathsOf(call) : [];
  return (
    <>
      <p class="acp-sentence">
        <b><Seen text={agentName(agent)} /></b> {wants} to <Wish kind={call?.kind ?? 'other'} paths={paths} input={input} />
      </p>
      <Details call={call} paths={paths} input={input} />
      {call?.title ? <p class="acp-agent-words">The agent calls it: “<i><Seen text={call.title} /></i>”</p> : null}
    </>
  );
}

export function agentName(agent: { name: string; title: string | null }): string {
  return agent.title || agent.name;
}

function Wish({ kind, paths, input }: { kind: string; paths: string[]; input: ToolInput }): JSX.Element {
  const { wish } = kindWords(kind);
  if (kind === 'execute') {
    return <><b>run</b> {input.command === null ? 'a command that it does not show' : 'this command'}{input.cwd ? <> in <Code text={input.cwd} /></> : null}</>;
  }
  return (
    <>
      <b>{wish}</b>
      {knownKind(kind) ? null : <> of a kind that we do not know, “<Seen text={kind} />”</>}{' '}
      {paths.length === 1 ? <Code text={paths[0] as string} /> : null}
      {paths.length > 1 ? `${paths.length} files` : null}
      {paths.length === 0 && input.url ? <Code text={input.url} /> : null}
    </>
  );
}

function Details({ call, paths, input }: { call: ToolCall | undefined; paths: string[]; input: ToolInput }): JSX.Element {
  const kind = call?.kind ?? 'other';
  // a command's directory stands in the sentence
  const listed = kind === 'execute' ? paths.filter(path => path !== input.cwd) : paths.length > 1 ? paths : [];
  const nothing = input.command === null && paths.length === 0 && !input.url && !call?.raw_input;
  return (
    <>
      {listed.length > 0 ? <ul class="acp-paths">{listed.map(path => <li key={path}><Code text={path} /></li>)}</ul> : null}
      {input.command !== null && kind !== 'execute' ? <p class="acp-sentence">It holds a command:</p> : null}
      {input.command !== null ? <pre class="acp-command" dir="ltr"><Seen text={input.command} /></pre> : null}
      {call?.raw_input && saysMore(call) ? <RawInput text={call.raw_input} /> : null}
      {nothing ? <p class="acp-sentence acp-quiet">It sent no details.</p> : null}
    </>
  );
}

/** All of it at once: a tree would have branches to open. */
function RawInput({ text }: { text: string }): JSX.Element {
  return (
    <>
      <p class="acp-sentence">raw input:</p>
      <pre class="acp-command acp-raw-input" dir="ltr"><Seen text={text} /></pre>
    </>
  );
}

/** The content of the call when it was asked; of one that still shows it, it stands above the request. */
export function AskedContent({ permission, asked }: { permission: Permission; asked: ToolCall }): JSX.Element {
  return <>{asked.content.map((item, place) => <ContentView key={place} item={item} call={asked} id={`asked:${permission.key}:${place}`} />)}</>;
}
