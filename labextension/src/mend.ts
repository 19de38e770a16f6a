/**
 * Mend a document from outside, so that each thing in it has the type that the card draws. A wrong value becomes its
 * JSON text where text is due, and the places of all wrong ones are told.
 */

import { own } from './ops';

type Loose = Record<string, unknown>;
/** Give `value` its due type, and note its `place` in `wrong` where it had another. */
type Shape = (value: unknown, place: string, wrong: string[]) => unknown;

export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

/** The value itself where it `fits`, else what stands in for it. */
function plain(fits: (value: unknown) => boolean, instead: (value: unknown) => unknown): Shape {
  return (value, place, wrong) => {
    if (fits(value)) return value;
    wrong.push(place);
    return instead(value);
  };
}

const text = plain(value => typeof value === 'string', json);
const number = plain(Number.isFinite, () => 0);
const count = plain(value => Number.isSafeInteger(value) && (value as number) >= 0, () => 0);

/** Null, or nothing at all, is no error: it becomes `none`. */
function or(none: unknown, shape: Shape): Shape {
  return (value, place, wrong) => (value === undefined || value === null ? none : shape(value, place, wrong));
}

const maybe = (shape: Shape): Shape => or(null, shape);

const time = maybe(plain(Number.isFinite, () => null));
const words = maybe(text);
const optional = or(undefined, text);
const flag = plain(value => typeof value === 'boolean', () => false);

function list(shape: Shape): Shape {
  return (value, place, wrong) => {
    if (Array.isArray(value)) return value.map((one, at) => shape(one, `${place}.${at}`, wrong));
    wrong.push(place);
    return [];
  };
}

/** Nodes by their ids; what is no node is left out, and the card says where it misses it. */
function map(shape: Shape): Shape {
  return (value, place, wrong) => {
    if (!isObject(value)) wrong.push(place);
    const nodes = Object.entries(isObject(value) ? value : {}).filter(([id, one]) => isObject(one) || void wrong.push(`${place}.${id}`));
    return Object.fromEntries(nodes.map(([id, one]) => [id, shape(one, `${place}.${id}`, wrong)]));
  };
}

/** An object; keys that are not known stay as they are. */
function record(fields: Record<string, Shape>): Shape {
  return (value, place, wrong) => {
    const node = isObject(value) ? value : {};
    const within = isObject(value) ? wrong : []; // all of it is wrong: its parts need no word
    if (node !== value) wrong.push(place);
    const due = Object.entries(fields).map(([key, shape]) => [key, shape(own(node, key), place ? `${place}.${key}` : key, within)]);
    return { ...node, ...Object.fromEntries(due) };
  };
}

/** What we cannot make out, as it stands. */
function unknown(value: unknown): unknown {
  const kind = isObject(value) ? value.type : null;
  return { type: 'unknown', kind: typeof kind === 'string' ? kind : null, raw: json(value) };
}

function oneOf(shapes: Record<string, Shape>): Shape {
  return (value, place, wrong) => {
    const type = isObject(value) ? value.type : null;
    if (typeof type !== 'string') wrong.push(place);
    const shape = own(shapes, String(type));
    return shape && isObject(value) ? shape(value, place, wrong) : unknown(value);
  };
}

const block = record({
  type: text, text: optional, data: optional, mimeType: optional, uri: optional, name: optional, title: optional, description: optional,
  resource: or(undefined, record({ uri: optional, text: optional, blob: optional, mimeType: optional }))
});

const mark = plain(value => Array.isArray(value) && value.length === 4 && value.slice(1).every(Number.isSafeInteger), () => ['', 0, 0, 0]);

const lineEnds = or(undefined, plain(value => Array.isArray(value) && value.length === 2 && value.every(end => end === 'LF' || end === 'CRLF'), () => undefined));

const rawDiff = record({
  path: text, new_text: text, line_ends: lineEnds, added: count, removed: count,
  edits: list(record({ at: count, add: count, del: list(text), section: words, marks: list(mark) }))
});

interface Fitting {
  new_text: string;
  edits: { at: number; add: number }[];
}

/** Edits that do not lie in the text in order cannot be drawn: the diff is then shown as it stands. */
const diff: Shape = (value, place, wrong) => {
  const mended = rawDiff(value, place, wrong) as Fitting;
  let from = 0;
  const fits = mended.edits.every(({ at, add }) => at >= from && ((from = at + add), true));
  if (fits && from <= mended.new_text.split('\n').length) return mended;
  wrong.push(`${place}.edits`);
  return unknown(value);
};

const role = { role: text };
const unknownOne = record({ kind: words, raw: text });

const item = oneOf({
  message: record({ ...role, text }),
  thought: record({ text, started_at: time, ended_at: time }),
  content: record({ ...role, block }),
  plan: record({ plan_id: text }),
  tool_call: record({ tool_call_id: text }),
  terminal: record({ terminal_id: text }),
  elicitation: record({ key: text }),
  notice: record({ severity: text, title: text, description: words }),
  compaction: record({ status: text, summary: list(block), error: words }),
  mode: record({ name: text, by: optional, oversight: optional }),
  option: record({ name: text, value: text, by: optional, oversight: optional }),
  unknown: unknownOne
});

const content = oneOf({
  content: record({ block }),
  terminal: record({ terminal_id: text }),
  diff,
  unknown: unknownOne
});

const toolCall = record({
  tool_call_id: text, title: text, name: words, kind: text, status: text, local_status: words,
  locations: list(record({ path: text, line: time })),
  content: list(content),
  raw_input: words, raw_output: words, updates: or(undefined, list(text)), updates_count: or(undefined, count), started_at: time, ended_at: time
});

const field = record({
  name: text, kind: text, title: words, description: words, required: flag, rules: list(text), default: words, maximum: time, format: words, secret: flag,
  choices: list(record({ value: text, title: text, description: words }))
});

const turn = record({
  turn_id: text, number, session_id: words, cwd: text, additional_directories: list(text), policy: text, state: text,
  agent: record({ name: text, title: words, version: words }),
  started_at: time, ended_at: time, stop_reason: words, title: words,
  error: maybe(record({ type: text, message: text, advice: text, stderr: text })),
  notes: list(record({ severity: text, text })),
  mode: maybe(record({ id: text, name: text })),
  options: list(record({ id: text, name: text, category: words, value: text })),
  usage: maybe(record({ used: number, size: number, cost: maybe(record({ amount: number, currency: text })) })),
  items: list(item),
  tool_calls: map(toolCall),
  terminals: map(
    record({ terminal_id: text, command: text, cwd: text, output: text, exit_code: time, signal: words, stopped_by: optional, started_at: time, ended_at: time })
  ),
  permissions: map(
    record({
      key: text, tool_call_id: text, state: text, option_id: words, decided_by: words, reason: words, opened_at: time, decided_at: time,
      options: list(record({ option_id: text, name: text, kind: text })),
      asked: maybe(toolCall),
      warnings: or([], list(record({ reason: text, text }))), checking: or(false, flag)
    })
  ),
  elicitations: map(
    record({
      key: text, mode: text, message: text, title: words, description: words, tool_call_id: words, url: words,
      fields: list(field),
      address: maybe(record({ before: text, host: text, after: text, warnings: list(text) })),
      state: text, content: words, decided_by: words, reason: words, opened_at: time, decided_at: time, completed: flag
    })
  ),
  plans: map(record({ entries: list(record({ content: text, priority: text, status: text })) }))
});

/** Return the document with everything in its due type, and the places of what had another. */
export function mend(doc: Loose): { turn: unknown; wrong: string[] } {
  const wrong: string[] = [];
  return { turn: turn(doc, '', wrong), wrong };
}
