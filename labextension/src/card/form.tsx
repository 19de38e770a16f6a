import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { own } from '../ops';
import type { Elicitation, Entered, Field } from '../types';
import { useCard, useUniqueId } from './context';
import { Code, Seen, seen } from './seen';

/** What stands in a field: yes and no as `true` and `false`; a list where several can be chosen. */
type Value = string | string[];
type Values = Record<string, Value>;
type Change = (before: Value) => Value;

/** Up to so many choices are seen at once; more are in a list that opens. */
const AT_ONCE = 6;
/** From this length on a text gets several lines. */
const LONG_TEXT = 200;

export function labelOf(field: Pick<Field, 'name' | 'title'>): string {
  return field.title || field.name;
}

interface Props {
  node: Elicitation;
  box: { current: HTMLElement | null };
  buttons: (accept: () => void) => JSX.Element;
}

/** The fields of a form. The kernel alone judges what is put into them; it is told of each when one leaves it. */
export function FormView({ node, box, buttons }: Props): JSX.Element {
  const { elicit } = useCard();
  const { touched, touch } = useTouched(node.key);
  const tried = useRef(false);
  const put = (field: Field, change: Change): void => {
    tried.current = false;
    touch([[field, change(valueIn(field, touched()))]]);
  };
  const check = (field: Field, change: Change): void => {
    put(field, change);
    const fields = node.fields.filter(one => Object.hasOwn(touched(), one.name));
    elicit(node.key, 'check', entered(fields, touched()));
  };
  const accept = (): void => {
    tried.current = true;
    touch(node.fields.map(field => [field, valueIn(field, touched())]));
    elicit(node.key, 'accept', entered(node.fields, touched()));
  };
  // what was wrong is where to go on
  useLayoutEffect(() => {
    const wrong = tried.current ? box.current?.querySelector<HTMLElement>('[aria-invalid="true"]') : null;
    if (!wrong) return;
    tried.current = false;
    wrong.focus();
  });
  return (
    <>
      {node.fields.map(field => (
        <FieldView
          key={field.name}
          field={field}
          value={valueIn(field, touched())}
          fault={own(node.faults, field.name)}
          put={change => put(field, change)}
          check={change => check(field, change)}
        />
      ))}
      {buttons(accept)}
    </>
  );
}

interface Touched {
  touched: () => Values;
  touch: (values: [Field, Value][]) => void;
}

/**
 * What a person has put into the fields, as it stands now: more can happen than is drawn. It is kept for the page, so
 * that no new drawing of the card loses it.
 */
function useTouched(key: string): Touched {
  const { store, ui } = useCard();
  const id = `form:${key}`;
  const touched = (): Values => JSON.parse(String(ui.get(id) ?? '{}')) as Values;
  const touch = (values: [Field, Value][]): void => {
    ui.set(id, JSON.stringify({ ...touched(), ...Object.fromEntries(values.map(([field, value]) => [field.name, value])) }));
    store.redraw(key);
  };
  return { touched, touch };
}

function valueIn(field: Field, touched: Values): Value {
  return own(touched, field.name) ?? proposed(field);
}

function proposed({ kind, default: json }: Field): Value {
  if (json === null) return kind === 'choices' ? [] : '';
  return ['text', 'choice', 'choices'].includes(kind) ? (JSON.parse(json) as Value) : json;
}

/** As the kernel is told it; null where nothing was put in. */
function entered(fields: Field[], values: Values): Entered {
  return Object.fromEntries(fields.map(field => [field.name, enteredIn(field, values[field.name] as Value)]));
}

function enteredIn({ kind, required, default: json }: Field, value: Value): string | boolean | string[] | null {
  if (value.length === 0 && !(kind === 'choices' && (required || json !== null))) return null;
  return kind === 'boolean' ? value === 'true' : value;
}

interface FieldProps {
  field: Field;
  value: Value;
  fault: string | undefined;
  put: (change: Change) => void;
  check: (change: Change) => void;
}

function FieldView(props: FieldProps): JSX.Element {
  const { field, fault } = props;
  const id = useUniqueId();
  const options = optionsOf(field);
  const seenAtOnce = options.length > 0 && (field.kind !== 'choice' || options.length <= AT_ONCE);
  const described = `${fault ? `${id}-fault ` : ''}${id}-words ${id}-rules`;
  const group = seenAtOnce ? { role: 'group', 'aria-labelledby': `${id}-label`, 'aria-describedby': described } as const : {};
  const label = <Seen text={labelOf(field)} />;
  return (
    <div class="acp-field" {...group}>
      <div>
        {seenAtOnce ? <b id={`${id}-label`}>{label}</b> : <label for={id}><b>{label}</b></label>}{' '}
        <span class="acp-rules" id={`${id}-rules`}><Seen text={field.rules.join(' · ')} /></span>
      </div>
      {field.description ? <p class="acp-asked-words acp-quiet" id={`${id}-words`}><Seen text={field.description} /></p> : null}
      {seenAtOnce ? <Options {...props} options={options} id={id} /> : <Entry {...props} options={options} id={id} described={described} />}
      {fault ? <div class="acp-fault" id={`${id}-fault`} role="alert"><Seen text={fault} /></div> : null}
    </div>
  );
}

interface Option {
  value: string;
  title: string;
  description?: string | null;
}

const YES_NO: Option[] = [{ value: 'true', title: 'Yes' }, { value: 'false', title: 'No' }];

/** What can be chosen; where it is optional, also nothing. */
function optionsOf({ kind, choices, required }: Field): Option[] {
  if (kind === 'choices') return choices;
  const one = kind === 'boolean' ? YES_NO : kind === 'choice' ? choices : [];
  return one.length === 0 || required ? one : [...one, { value: '', title: 'no answer' }];
}

interface OptionsProps extends FieldProps {
  options: Option[];
  id: string;
}

/** Choices that are all seen: one of them, or several. */
function Options({ field, value, fault, check, options, id }: OptionsProps): JSX.Element {
  const many = Array.isArray(value);
  const choose = (one: string, on: boolean): void =>
    check(before => (many ? options.map(option => option.value).filter(each => (each === one ? on : before.includes(each))) : one));
  return (
    <>
      {options.map(option => (
        <label key={option.value} class="acp-choice">
          <input
            type={many ? 'checkbox' : 'radio'}
            name={id}
            checked={many ? value.includes(option.value) : value === option.value}
            aria-invalid={fault ? 'true' : undefined}
            onChange={event => choose(option.value, event.currentTarget.checked)}
          />
          <span>
            <Seen text={option.title} />
            {option.title === option.value || field.kind === 'boolean' || option.value === '' ? null : <> <Code text={`[${option.value}]`} /></>}
            {option.description ? <span class="acp-quiet"> <Seen text={option.description} /></span> : null}
          </span>
        </label>
      ))}
    </>
  );
}

interface Typed {
  currentTarget: { value: string };
}

/** What is typed, or chosen from a list that opens. */
function Entry({ field, value, fault, put, check, options, id, described }: OptionsProps & { described: string }): JSX.Element {
  const text = String(value);
  const shared = {
    id,
    value: text,
    'aria-describedby': described,
    'aria-required': field.required,
    'aria-invalid': fault ? ('true' as const) : undefined,
    autocomplete: 'off' as const,
    spellcheck: false,
    onInput: ({ currentTarget: { value } }: Typed) => put(() => value),
    onChange: ({ currentTarget: { value } }: Typed) => check(() => value)
  };
  if (options.length > 0) {
    return (
      <select {...shared}>
        {field.required ? <option value="" disabled>choose one</option> : null}
        {options.map(option => <option key={option.value} value={option.value}>{seen(option.title === option.value ? option.title : `${option.title} [${option.value}]`)}</option>)}
      </select>
    );
  }
  const long = field.kind === 'text' && !field.secret && ((field.maximum ?? 0) >= LONG_TEXT || text.includes('\n'));
  return long ? <textarea {...shared} rows={4} /> : <input {...shared} type={typeOf(field, text)} />;
}

function typeOf({ secret, format }: Field, text: string): 'text' {
  // a date that is none would not be seen in a field for dates
  const type = secret ? 'password' : format === 'date' && /^(\d{4}-\d\d-\d\d)?$/.test(text) ? 'date' : 'text';
  return type as 'text'; // the types of JSX want one of them
}
