import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { timeOfDay } from '../text/format';
import { pathTrouble } from '../text/paths';
import { hiddenWords } from '../text/visible';
import { pathsOf, sameOperation, toolInput } from '../tool-input';
import type { Permission, PermissionOption, ToolCall } from '../types';
import { AskedContent, Changed, Operation } from './asked';
import { useCard, useUniqueId } from './context';
import { Fold } from './fold';
import { useRest } from './rest';
import { Code, Seen } from './seen';
import { decidedWords, optionTag } from './words';

interface Props {
  permission: Permission;
  call: ToolCall | undefined;
}

/** A request for permission: what it is about in our words, one button per option, and later what was decided. */
export function PermissionView({ permission, call }: Props): JSX.Element {
  const { store, live, decide } = useCard();
  const box = useRef<HTMLDivElement>(null);
  const open = permission.state === 'open';
  const rests = useRest(live && open);
  const sent = store.sent.get(permission.key);
  const answer = (option: PermissionOption): void => {
    if (rests()) return;
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
      {open ? <Request permission={permission} call={call} answer={answer} sent={sent} resting={rests()} /> : <Decision permission={permission} call={call} />}
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
  resting: boolean;
}

function Request({ permission, call, answer, sent, resting }: RequestProps): JSX.Element {
  const { live } = useCard();
  const about = permission.asked ?? call;
  const input = toolInput(about?.raw_input ?? null);
  const paths = about ? pathsOf(about) : [];
  const { shown, left_out } = offered(permission.options);
  return (
    <>
      <Warnings texts={[input.command, input.url, about?.title, ...paths, ...permission.options.map(option => option.name)]} paths={paths} />
      {left_out.length > 0 ? (
        <div class="acp-warning">
          Two options share one id; only the safest of them can be chosen. Left out: {left_out.map(option => `“${option.name}”`).join(', ')}.
        </div>
      ) : null}
      {permission.asked ? <Changed>The agent has changed this call since it asked; this is what it asked for.</Changed> : null}
      <Operation call={about} wants="wants" />
      {permission.asked ? <AskedContent permission={permission} asked={permission.asked} /> : null}
      {live ? <Options options={shown} answer={answer} sent={sent} resting={resting} /> : <NotAnswered options={shown} />}
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

type OptionsProps = Pick<RequestProps, 'answer' | 'sent' | 'resting'> & { options: PermissionOption[] };

function Options({ options, ...rest }: OptionsProps): JSX.Element {
  const first = (option: PermissionOption): boolean => options.find(other => other.kind === option.kind) === option;
  if (options.length === 0) {
    return <p class="acp-sentence">The agent offers no answer; only Stop can end this.</p>;
  }
  return (
    <div class="acp-options">
      {options.map(option => (
        <OptionButton key={option.option_id} option={option} hint={first(option) ? HINTS[option.kind] : undefined} {...rest} />
      ))}
    </div>
  );
}

interface ButtonProps extends Omit<OptionsProps, 'options'> {
  option: PermissionOption;
  hint: string | undefined;
}

function OptionButton({ option, hint, sent, resting, answer }: ButtonProps): JSX.Element {
  const tag = useUniqueId();
  return (
    <button
      type="button"
      class="acp-button acp-option"
      data-option-id={option.option_id}
      data-kind={option.kind}
      aria-label={option.name || option.option_id}
      aria-describedby={tag}
      disabled={sent !== undefined}
      aria-disabled={resting || undefined}
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
  const { gone } = useCard();
  return <p class="acp-sentence acp-quiet">It was waiting for an answer when {gone ? 'the kernel went away' : 'this was saved'}. It offered{names.length ? <>: {names}</> : ' nothing to choose'}.</p>;
}

const DECIDERS: Record<string, string> = { you: ' by you', policy: ' by policy', time_limit: ' by the time limit' };

function Decision({ permission, call }: Props): JSX.Element {
  const option = permission.options.find(one => one.option_id === permission.option_id);
  const at = permission.decided_at === null ? '' : ` at ${timeOfDay(permission.decided_at)}`;
  const who = DECIDERS[permission.decided_by ?? ''] ?? '';
  const why = permission.decided_by === 'nobody' ? ', since nobody could be asked' : '';
  const what = permission.state === 'selected' ? `${decidedWords(option)}${who}${at}${why}` : `${notAnswered(permission.decided_by)}${at}`;
  const line = (
    <div class="acp-decision">
      {what}
      {permission.state === 'selected' ? <> · <span class="acp-chosen"><Seen text={option?.name ?? permission.option_id ?? ''} /></span></> : null}
      {permission.reason ? <span class="acp-reason"> · <Seen text={permission.reason} /></span> : null}
    </div>
  );
  return <>{line}{permission.asked ? <WasAsked permission={permission} asked={permission.asked} call={call} /> : null}</>;
}

/** What the decision was about, where the call no longer shows it. */
function WasAsked({ permission, asked, call }: Props & { asked: ToolCall }): JSX.Element | null {
  if (!call || !sameOperation(call, asked)) {
    return (
      <div class="acp-was-asked">
        <Changed>The call was changed after this was asked; this is what was {outcome(permission)}.</Changed>
        <Operation call={asked} wants="wanted" />
        <AskedContent permission={permission} asked={asked} />
      </div>
    );
  }
  // its text made room for the results
  return <Fold id={`asked:${permission.key}`} label="what it told when it asked">{() => <AskedContent permission={permission} asked={asked} />}</Fold>;
}

function outcome({ state, option_id, options }: Permission): string {
  if (state !== 'selected') return 'asked';
  const kind = options.find(option => option.option_id === option_id)?.kind;
  return kind === 'allow_once' || kind === 'allow_always' ? 'allowed' : 'rejected';
}

function notAnswered(by: string | null): string {
  if (by === 'agent') return 'Withdrawn by the agent';
  if (by === 'nobody') return 'Not allowed: nobody could be asked';
  if (by === 'time_limit') return 'Not answered in time';
  if (by === 'turn') return 'Not answered: the turn ended first';
  return by === 'you' ? 'Cancelled by you' : 'Not answered';
}
