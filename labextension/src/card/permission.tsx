import type { ComponentChildren, JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { timeOfDay } from '../text/format';
import { pathTrouble } from '../text/paths';
import { hiddenWords } from '../text/visible';
import { pathsOf, toolInput, type ToolInput } from '../tool-input';
import type { Permission, PermissionOption, ToolCall } from '../types';
import { useCard } from './context';
import { LongText } from './json-tree';
import { Code, Seen } from './seen';
import { decidedWords, kindWords, knownKind, optionTag } from './words';

interface Props {
  permission: Permission;
  call: ToolCall | undefined;
}

/** A request for permission: what it is about in our words, one button per option, and later what was decided. */
export function PermissionView({ permission, call }: Props): JSX.Element {
  const { store, live, decide } = useCard();
  const box = useRef<HTMLDivElement>(null);
  const open = permission.state === 'open';
  const sent = store.sent.get(permission.key);
  const answer = (option: PermissionOption): void => {
    // The button goes away; without this, the next key would go to the notebook.
    if (box.current?.contains(document.activeElement)) box.current.focus({ preventScroll: true });
    decide(permission.key, option.option_id);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const option = open && live && sent === undefined ? optionOfKey(event, permission.options) : undefined;
    if (!option) return;
    event.preventDefault();
    event.stopPropagation();
    answer(option);
  };
  return (
    <div
      class="acp-permission"
      data-key={permission.key}
      data-state={permission.state}
      role="group"
      aria-label={open ? 'The agent asks for your permission' : 'Permission'}
      tabIndex={open ? 0 : -1}
      ref={box}
      onKeyDown={onKeyDown}
    >
      {open ? <Request permission={permission} call={call} answer={answer} sent={sent} /> : <Decision permission={permission} />}
    </div>
  );
}

const KEYS: Record<string, string> = { a: 'allow_once', A: 'allow_always', r: 'reject_once' };

function optionOfKey(event: KeyboardEvent, options: PermissionOption[]): PermissionOption | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return undefined;
  const letter = event.key.toLowerCase();
  const kind = KEYS[letter === 'a' && event.shiftKey ? 'A' : letter];
  if (event.shiftKey && letter !== 'a') return undefined;
  return offered(options).shown.find(option => option.kind === kind);
}

interface RequestProps extends Props {
  answer: (option: PermissionOption) => void;
  sent: string | undefined;
}

function Request({ permission, call, answer, sent }: RequestProps): JSX.Element {
  const { store, live } = useCard();
  const input = toolInput(call?.raw_input ?? null);
  const paths = call ? pathsOf(call) : [];
  const { shown, left_out } = offered(permission.options);
  return (
    <>
      <Warnings texts={[input.command, input.url, call?.title, ...paths, ...permission.options.map(option => option.name)]} paths={paths} />
      {left_out.length > 0 ? (
        <div class="acp-warning">
          Two options share one id; only the safest of them can be chosen. Left out: {left_out.map(option => `“${option.name}”`).join(', ')}.
        </div>
      ) : null}
      <p class="acp-sentence">
        <b><Seen text={agentName(store.turn.agent)} /></b> wants to <Wish call={call} paths={paths} input={input} />
      </p>
      <Details call={call} paths={paths} input={input} />
      {call?.title ? <p class="acp-agent-words">The agent calls it: “<i><Seen text={call.title} /></i>”</p> : null}
      {live ? <Options options={shown} answer={answer} sent={sent} /> : <NotAnswered options={shown} />}
    </>
  );
}

export function agentName(agent: { name: string; title: string | null }): string {
  return agent.title || agent.name;
}

function Wish({ call, paths, input }: { call: ToolCall | undefined; paths: string[]; input: ToolInput }): JSX.Element {
  const kind = call?.kind ?? 'other';
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

/** What is to be seen in full before anybody says yes: paths, the whole command, or at the least the raw input. */
function Details({ call, paths, input }: { call: ToolCall | undefined; paths: string[]; input: ToolInput }): JSX.Element {
  const kind = call?.kind ?? 'other';
  // a command's directory stands in the sentence
  const listed = kind === 'execute' ? paths.filter(path => path !== input.cwd) : paths.length > 1 ? paths : [];
  const nothing = input.command === null && paths.length === 0 && !input.url;
  return (
    <>
      {listed.length > 0 ? <ul class="acp-paths">{listed.map(path => <li key={path}><Code text={path} /></li>)}</ul> : null}
      {input.command !== null && kind !== 'execute' ? <p class="acp-sentence">It holds a command:</p> : null}
      {input.command !== null ? <pre class="acp-command" dir="ltr"><Seen text={input.command} /></pre> : null}
      {nothing && call?.raw_input ? <pre class="acp-command" dir="ltr"><LongText text={call.raw_input} /></pre> : null}
      {nothing && !call?.raw_input ? <p class="acp-sentence acp-quiet">It sent no details.</p> : null}
    </>
  );
}

function Warnings({ texts, paths }: { texts: (string | null | undefined)[]; paths: string[] }): JSX.Element {
  const { store } = useCard();
  const hidden = hiddenWords(texts.filter(text => typeof text === 'string'));
  const pushed = hidden?.includes('run of') ? ' that may push its end out of sight' : '';
  const trouble = [...new Set(paths.map(path => pathTrouble(path, store.turn)).filter(words => words !== null))];
  return (
    <>
      {hidden ? <div class="acp-warning">This request holds {hidden}{pushed}.</div> : null}
      {trouble.map(words => <div class="acp-warning" key={words}>{paths.length > 1 ? 'A path here' : 'This path'} is {words}.</div>)}
    </>
  );
}

const SAFEST = ['reject_once', 'reject_always', 'allow_once', 'allow_always'];

function safety(option: PermissionOption): number {
  const place = SAFEST.indexOf(option.kind);
  return place < 0 ? SAFEST.length : place;
}

/** The options in the agent's order; of several with one id, which an answer could not tell apart, the safest. */
function offered(options: PermissionOption[]): { shown: PermissionOption[]; left_out: PermissionOption[] } {
  const best = new Map<string, PermissionOption>();
  for (const option of options) {
    const other = best.get(option.option_id);
    if (!other || safety(option) < safety(other)) best.set(option.option_id, option);
  }
  const shown = options.filter(option => best.get(option.option_id) === option);
  return { shown, left_out: options.filter(option => !shown.includes(option)) };
}

const HINTS: Record<string, string> = { allow_once: 'A', allow_always: '⇧A', reject_once: 'R' };

function Options({ options, answer, sent }: { options: PermissionOption[]; answer: (option: PermissionOption) => void; sent: string | undefined }): JSX.Element {
  const first = (option: PermissionOption): boolean => options.find(other => other.kind === option.kind) === option;
  if (options.length === 0) {
    return <p class="acp-sentence">The agent offers no answer; only Stop can end this.</p>;
  }
  return (
    <div class="acp-options">
      {options.map(option => (
        <OptionButton key={option.option_id} option={option} hint={first(option) ? HINTS[option.kind] : undefined} sent={sent} answer={answer} />
      ))}
    </div>
  );
}

interface ButtonProps {
  option: PermissionOption;
  hint: string | undefined;
  sent: string | undefined;
  answer: (option: PermissionOption) => void;
}

function OptionButton({ option, hint, sent, answer }: ButtonProps): JSX.Element {
  const tag = useId();
  return (
    <button
      type="button"
      class="acp-button acp-option"
      data-option-id={option.option_id}
      data-kind={option.kind}
      aria-label={option.name || option.option_id}
      aria-describedby={tag}
      disabled={sent !== undefined}
      onClick={() => answer(option)}
    >
      <span class="acp-option-name">{option.name ? <Seen text={option.name} /> : <Code text={option.option_id} />}</span>
      {hint ? <kbd title={`press ${hint} while this request has the focus`} aria-hidden="true">{hint}</kbd> : null}
      <span class="acp-option-kind" id={tag}>{sent === option.option_id ? 'sent…' : <Seen text={optionTag(option.kind)} />}</span>
    </button>
  );
}

function NotAnswered({ options }: { options: PermissionOption[] }): JSX.Element {
  const names: ComponentChildren[] = options.map((option, index) => <>{index > 0 ? ', ' : ''}“<Seen text={option.name} />”</>);
  return <p class="acp-sentence acp-quiet">It was waiting for an answer when this was saved. It offered: {names}.</p>;
}

const DECIDERS: Record<string, string> = { you: ' by you', policy: ' by policy' };

function Decision({ permission }: { permission: Permission }): JSX.Element {
  const option = permission.options.find(one => one.option_id === permission.option_id);
  const at = permission.decided_at === null ? '' : ` at ${timeOfDay(permission.decided_at)}`;
  const who = DECIDERS[permission.decided_by ?? ''] ?? '';
  const why = permission.decided_by === 'nobody' ? ', since nobody could be asked' : '';
  const what = permission.state === 'selected' ? `${decidedWords(option)}${who}${at}${why}` : `${notAnswered(permission.decided_by)}${at}`;
  return (
    <div class="acp-decision">
      {what}
      {permission.state === 'selected' ? <> · <span class="acp-chosen"><Seen text={option?.name ?? permission.option_id ?? ''} /></span></> : null}
      {permission.reason ? <span class="acp-reason"> · <Seen text={permission.reason} /></span> : null}
    </div>
  );
}

function notAnswered(by: string | null): string {
  if (by === 'agent') return 'Withdrawn by the agent';
  if (by === 'nobody') return 'Not allowed: nobody could be asked';
  if (by === 'turn') return 'Not answered: the turn ended first';
  return by === 'you' ? 'Cancelled by you' : 'Not answered';
}
