import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { timeOfDay } from '../text/format';
import type { Permission, PermissionOption, ToolCall } from '../types';
import { AskedContent, Operation } from './asked';
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
  // what its files tell comes into the box, and moves what stands below
  const { checking } = permission;
  const rests = useRest(live && open && !checking);
  const sent = store.sent.get(permission.key);
  const answer = (option: Choice): void => {
    if (checking || rests()) return;
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
      {open ? <Request permission={permission} call={call} answer={answer} sent={sent} resting={checking || rests()} /> : <Decision permission={permission} />}
    </div>
  );
}

const KEYS: Record<string, string> = { a: 'allow_once', A: 'allow_always', r: 'reject_once' };

function optionOfKey(event: KeyboardEvent, options: PermissionOption[]): PermissionOption | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return undefined;
  const letter = event.key.toLowerCase();
  const kind = KEYS[letter === 'a' && event.shiftKey ? 'A' : letter];
  if (event.shiftKey && letter !== 'a') return undefined;
  return offered(options).find(option => option.kind === kind);
}

interface RequestProps extends Props {
  answer: (option: Choice) => void;
  sent: string | null | undefined;
  resting: boolean;
}

function Request({ permission, call, answer, sent, resting }: RequestProps): JSX.Element {
  const { live } = useCard();
  const about = permission.asked ?? call;
  const shown = offered(permission.options);
  return (
    <>
      <Warnings permission={permission} />
      <Operation call={about} wants="wants" />
      {permission.asked ? <AskedContent permission={permission} asked={permission.asked} /> : null}
      {live ? <Options options={shown} answer={answer} sent={sent} resting={resting} /> : <NotAnswered options={shown} />}
    </>
  );
}

function Warnings({ permission }: { permission: Permission }): JSX.Element {
  return <>{permission.warnings.map(({ reason, text }) => <div class="acp-warning" data-reason={reason} key={reason + text}><Seen text={text} /></div>)}</>;
}

/** The options that can be chosen. */
function offered(options: PermissionOption[]): PermissionOption[] {
  return options.filter(option => !option.left_out);
}

const HINTS: Record<string, string> = { allow_once: 'A', allow_always: '⇧A', reject_once: 'R' };

/** An option, or none of them. */
type Choice = Omit<PermissionOption, 'option_id'> & { option_id: string | null };

/** Ours, where the agent offers no way to say no. */
const NONE: Choice = { option_id: null, name: 'None of these', kind: '' };

type OptionsProps = Pick<RequestProps, 'answer' | 'sent' | 'resting'> & { options: PermissionOption[] };

function Options({ options, ...rest }: OptionsProps): JSX.Element {
  const first = (option: Choice): boolean => options.find(other => other.kind === option.kind) === option;
  const choices: Choice[] = options.some(option => option.kind.startsWith('reject')) ? options : [...options, NONE];
  return (
    <div class="acp-options">
      {choices.map(option => (
        <OptionButton key={option.option_id} option={option} hint={first(option) ? HINTS[option.kind] : undefined} {...rest} />
      ))}
    </div>
  );
}

const NAMELESS = '(no name)';

interface ButtonProps extends Omit<OptionsProps, 'options'> {
  option: Choice;
  hint: string | undefined;
}

function OptionButton({ option, hint, sent, resting, answer }: ButtonProps): JSX.Element {
  const tag = useUniqueId();
  return (
    <button
      type="button"
      class="acp-button acp-option"
      data-option-id={option.option_id ?? undefined}
      data-kind={option.kind}
      aria-label={option.name || option.option_id || NAMELESS}
      aria-describedby={tag}
      disabled={sent !== undefined}
      aria-disabled={resting || undefined}
      onClick={() => answer(option)}
    >
      <span class="acp-option-name">{option.name ? <Seen text={option.name} /> : <Code text={option.option_id || NAMELESS} />}</span>
      {hint ? <kbd title={`press ${hint} while this request has the focus`} aria-hidden="true">{hint}</kbd> : null}
      <span class="acp-option-kind" id={tag}>{sent === option.option_id ? 'sent…' : <Seen text={option === NONE ? 'answers that it was cancelled' : optionTag(option.kind)} />}</span>
    </button>
  );
}

function NotAnswered({ options }: { options: PermissionOption[] }): JSX.Element {
  const { gone, store } = useCard();
  const names: ComponentChildren[] = options.map((option, index) => <>{index > 0 ? ', ' : ''}<Offer option={option} /></>);
  const words = store.turn.by_text ? 'It is asked for by text, below, or was when this was saved.' : `It was waiting for an answer when ${gone ? 'the kernel went away' : 'this was saved'}.`;
  return <p class="acp-sentence acp-quiet">{words} It offered{names.length ? <>: {names}</> : ' nothing to choose'}.</p>;
}

function Offer({ option }: { option: PermissionOption }): JSX.Element {
  return <>“<Seen text={option.name || option.option_id || NAMELESS} />” <span class="acp-option-kind">(<Seen text={optionTag(option.kind)} />)</span></>;
}

const DECIDERS: Record<string, string> = { you: ' by you', policy: ' by policy', time_limit: ' by the time limit' };

function Decision({ permission }: Pick<Props, 'permission'>): JSX.Element {
  const option = offered(permission.options).find(one => one.option_id === permission.option_id);
  const at = permission.decided_at === null ? '' : ` at ${timeOfDay(permission.decided_at)}`;
  const who = DECIDERS[permission.decided_by ?? ''] ?? '';
  const why = permission.decided_by === 'nobody' ? ', since nobody could be asked' : '';
  const known = decidedWords(option) !== 'Answered';
  const what = permission.state === 'selected' ? `${decidedWords(option)}${who}${at}${why}` : `${notAnswered(permission.decided_by)}${at}`;
  const line = (
    <div class="acp-decision">
      {what}
      {permission.state === 'selected' ? <> · <span class="acp-chosen"><Seen text={option?.name ?? permission.option_id ?? ''} /></span>{known || !option ? null : <> (<Seen text={optionTag(option.kind)} />)</>}</> : null}
      {permission.reason ? <span class="acp-reason"> · <Seen text={permission.reason} /></span> : null}
    </div>
  );
  return <>{line}<Warnings permission={permission} />{permission.asked ? <WasAsked permission={permission} asked={permission.asked} /> : null}</>;
}

/** What the decision was about, where the call no longer shows it. */
function WasAsked({ permission, asked }: { permission: Permission; asked: ToolCall }): JSX.Element {
  if (permission.warnings.some(warning => warning.reason === 'changed')) {
    return (
      <div class="acp-was-asked">
        <Operation call={asked} wants="wanted" />
        <AskedContent permission={permission} asked={asked} />
      </div>
    );
  }
  // its text made room for the results
  return <Fold id={`asked:${permission.key}`} label="what it told when it asked">{() => <AskedContent permission={permission} asked={asked} />}</Fold>;
}

function notAnswered(by: string | null): string {
  if (by === 'agent') return 'Withdrawn by the agent';
  if (by === 'nobody') return 'Not allowed: nobody could be asked';
  if (by === 'time_limit') return 'Not answered in time';
  if (by === 'turn') return 'Not answered: the turn ended first';
  return by === 'you' ? 'Cancelled by you' : 'Not answered';
}
