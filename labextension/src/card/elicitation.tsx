import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { parseJson, type JsonNode } from '../json/parse';
import { own } from '../ops';
import { timeOfDay } from '../text/format';
import type { Elicitation, ElicitAction } from '../types';
import { AddressView } from './address';
import { agentName } from './asked';
import { useCard, useUniqueId } from './context';
import { FormView, labelOf } from './form';
import { Icon } from './icons';
import { useRest } from './rest';
import { Code, Seen } from './seen';

interface Props {
  node: Elicitation;
}

/** What the agent asks a person for, a form's values or a visit to an address, and later what was answered. */
export function ElicitationView({ node }: Props): JSX.Element {
  const { store, live } = useCard();
  const { agent, tool_calls } = store.turn;
  const open = node.state === 'open';
  const call = node.tool_call_id === null ? undefined : own(tool_calls, node.tool_call_id);
  const form = node.mode === 'form';
  return (
    <section class="acp-tool-call" data-asking={open || undefined}>
      <div class="acp-tool-head">
        <Icon name={form ? 'edit' : 'link'} />
        <span class="acp-what"><span><b><Seen text={agentName(agent)} /></b> {form ? 'asks for values' : 'asks you to open an address'}</span></span>
        <span class="acp-status" data-tone={open ? 'wait' : 'quiet'}>{open ? 'Needs your answer' : node.state}</span>
      </div>
      <Box node={node}>
        {call?.title ? <p class="acp-agent-words">It belongs to “<i><Seen text={call.title} /></i>”</p> : null}
        {node.title ? <p class="acp-asked-title"><Seen text={node.title} /></p> : null}
        {[node.message, node.description].map(text => (text ? <p class="acp-asked-words"><Seen text={text} /></p> : null))}
        {form ? null : <AddressView node={node} />}
        {open && live ? null : <Outcome node={node} />}
      </Box>
    </section>
  );
}

/** The frame, with the answers while there is one to give. */
function Box({ node, children }: Props & { children: ComponentChildren }): JSX.Element {
  const { store, ui, live, elicit } = useCard();
  const box = useRef<HTMLDivElement>(null);
  const open = node.state === 'open' && live;
  const rests = useRest(open);
  const sent = store.sent.get(node.key);
  const answer = (tell: () => void): void => {
    if (rests()) return;
    // The buttons go away; without this, the next key would go to the notebook.
    if (box.current?.contains(document.activeElement)) box.current.focus({ preventScroll: true });
    tell();
  };
  const tell = (action: ElicitAction) => () => elicit(node.key, action, null);
  const buttons = (accept: () => void): JSX.Element => (
    <div class="acp-options">
      {ANSWERS.map(([action, label, what, whatOfForm]) => (
        <Answer
          key={action}
          action={action}
          label={label}
          what={sent === action ? 'sent…' : node.mode === 'form' ? whatOfForm : what}
          disabled={sent !== undefined}
          resting={rests()}
          answer={() => answer(action === 'accept' ? accept : tell(action))}
        />
      ))}
    </div>
  );
  useLayoutEffect(() => {
    // what was typed is kept no longer than it is needed
    if (node.state !== 'open') ui.delete(`form:${node.key}`);
  });
  return (
    <div
      class="acp-elicitation"
      data-key={node.key}
      data-state={node.state}
      role="group"
      aria-label={open ? 'The agent needs your answer' : 'What the agent asked'}
      tabIndex={open ? 0 : -1}
      ref={box}
    >
      {children}
      {node.state === 'open' && node.mode === 'form' ? (
        <fieldset disabled={!live}><FormView node={node} box={box} buttons={live ? buttons : () => <></>} /></fieldset>
      ) : null}
      {open && node.mode !== 'form' ? buttons(tell('accept')) : null}
    </div>
  );
}

/** Each action: its name, and what it does to an address, and to a form. */
const ANSWERS: [ElicitAction, string, string, string][] = [
  ['accept', 'Accept', 'agree to open it', 'send these values'],
  ['decline', 'Decline', 'say no', 'send nothing, say no'],
  ['cancel', 'Cancel', 'no answer', 'no answer']
];

interface AnswerProps {
  action: ElicitAction;
  label: string;
  what: string;
  disabled: boolean;
  resting: boolean;
  answer: () => void;
}

function Answer({ action, label, what, disabled, resting, answer }: AnswerProps): JSX.Element {
  const tag = useUniqueId();
  return (
    <button
      type="button"
      class="acp-button acp-option"
      data-action={action}
      aria-label={label}
      aria-describedby={tag}
      disabled={disabled}
      aria-disabled={resting || undefined}
      onClick={answer}
    >
      <span class="acp-option-name">{label}</span>
      <span class="acp-option-kind" id={tag}>{what}</span>
    </button>
  );
}

/** What became of it, who decided that, and the values that were sent. */
function Outcome({ node }: Props): JSX.Element {
  const { gone } = useCard();
  if (node.state === 'open') {
    return <p class="acp-sentence acp-quiet">It was waiting for an answer when {gone ? 'the kernel went away' : 'this was saved'}.</p>;
  }
  return (
    <>
      <ul class="acp-paths">
        {sentValues(node).map(([name, value]) => <li key={name}><Seen text={name} />: <Code text={value} /></li>)}
      </ul>
      <div class="acp-outcome">
        {outcomeWords(node)}
        {node.decided_at === null ? '' : ` at ${timeOfDay(node.decided_at)}`}
        {node.reason ? <> · <Seen text={node.reason} /></> : null}
        {node.completed ? ' · the agent says that it is done' : ''}
      </div>
    </>
  );
}

function outcomeWords({ mode, state, decided_by }: Elicitation): string {
  const by = decided_by === 'you' ? ' by you' : '';
  if (state === 'accepted') return mode === 'form' ? `Sent${by}` : `Agreed to open it${by}`;
  if (decided_by === 'agent') return 'Withdrawn by the agent';
  if (decided_by === 'turn') return 'Not answered: the turn ended first';
  if (decided_by === 'nobody') return 'Declined, since nobody could be asked';
  return `${state === 'declined' ? 'Declined' : 'Put away'}${by}`;
}

function sentValues({ content, fields }: Elicitation): [string, string][] {
  if (content === null) return [];
  try {
    const sent = parseJson(content);
    const labels = new Map(fields.map(field => [field.name, labelOf(field)]));
    return sent.type === 'object' ? sent.entries.map(([name, value]) => [labels.get(name) ?? name, valueText(value)]) : [['values', content]];
  } catch {
    return [['values', content]];
  }
}

function valueText(node: JsonNode): string {
  if (node.type === 'string') return node.value;
  if (node.type === 'array') return node.items.map(valueText).join(', ') || 'none';
  return node.type === 'object' ? '{…}' : { true: 'yes', false: 'no' }[node.text] ?? node.text;
}
