/** Turns to draw, and a kernel to draw them from. */

import { afterEach } from 'vitest';
import { BOX_REST_MS } from '../src/card/rest';
import { mountLive, mountSaved } from '../src/renderer';
import type { Elicitation, Field, FromCard, Model, Op, Permission, Terminal, ToolCall, Turn } from '../src/types';

export function turn(more: Partial<Turn> = {}): Turn {
  return {
    version: 1,
    turn_id: `turn-${Math.random()}`,
    number: 3,
    session_id: 's1',
    agent: { name: 'claude', title: 'Claude Code', version: null },
    cwd: '/home/user/project',
    additional_directories: [],
    policy: 'ask',
    state: 'running',
    started_at: 1000,
    ended_at: null,
    stop_reason: null,
    error: null,
    notes: [],
    title: null,
    mode: null,
    options: [],
    usage: null,
    items: [],
    tool_calls: {},
    terminals: {},
    permissions: {},
    elicitations: {},
    plans: {},
    ...more
  };
}

export function call(more: Partial<ToolCall> = {}): ToolCall {
  return {
    tool_call_id: 't1',
    title: '',
    name: null,
    kind: 'other',
    status: 'pending',
    local_status: null,
    locations: [],
    content: [],
    raw_input: null,
    raw_output: null,
    started_at: 1000,
    ended_at: null,
    ...more
  };
}

export function permission(more: Partial<Permission> = {}): Permission {
  return {
    key: '1',
    tool_call_id: 't1',
    options: [
      { option_id: 'once', name: 'Allow once', kind: 'allow_once' },
      { option_id: 'always', name: 'Always allow', kind: 'allow_always' },
      { option_id: 'no', name: 'Reject', kind: 'reject_once' }
    ],
    state: 'open',
    option_id: null,
    decided_by: null,
    reason: null,
    opened_at: 1001,
    decided_at: null,
    asked: null,
    warnings: [],
    checking: false,
    ...more
  };
}

/** A form without fields. */
export function elicitation(more: Partial<Elicitation> = {}): Elicitation {
  return {
    key: 'e1',
    mode: 'form',
    message: '',
    title: null,
    description: null,
    fields: [],
    url: null,
    address: null,
    tool_call_id: null,
    state: 'open',
    content: null,
    faults: {},
    decided_by: null,
    reason: null,
    opened_at: 1001,
    decided_at: null,
    completed: false,
    ...more
  };
}

export function field(more: Partial<Field> & { name: string }): Field {
  return {
    kind: 'text',
    title: null,
    description: null,
    required: false,
    rules: ['optional'],
    default: null,
    choices: [],
    maximum: null,
    format: null,
    secret: false,
    ...more
  };
}

export function terminal(more: Partial<Terminal> = {}): Terminal {
  return {
    terminal_id: 'x1',
    command: 'pytest',
    cwd: '/home/user/project',
    output: '',
    truncated: false,
    exit_code: null,
    signal: null,
    released: false,
    started_at: 1000,
    ended_at: null,
    ...more
  };
}

/** A turn of these calls, in this order. */
export function turnOf(calls: ToolCall[], more: Partial<Turn> = {}): Turn {
  return turn({
    items: calls.map(({ tool_call_id }) => ({ type: 'tool_call', tool_call_id })),
    tool_calls: Object.fromEntries(calls.map(one => [one.tool_call_id, one])),
    ...more
  });
}

const mounted: (() => void)[] = [];

/** No card outlives its test: its timers would draw when there is no document any more. */
afterEach(() => {
  for (const dispose of mounted.splice(0)) dispose();
});

export function saved(doc: unknown): HTMLElement {
  const el = document.createElement('div');
  document.body.append(el);
  mounted.push(mountSaved(doc, el));
  return el;
}

/** The kernel's side of a live card. */
export class Kernel {
  readonly received: FromCard[] = [];
  readonly handlers = new Set<(content: unknown) => void>();
  readonly losing = new Set<(content: unknown) => void>();
  seq = 0;

  constructor(
    public turn: Turn,
    private readonly part = ''
  ) {}

  /** What anywidget hands to one view. */
  model(): Model {
    return {
      get: name => ({ turn_id: this.turn.turn_id, part: this.part })[name],
      send: content => void (content.type === 'offers' || this.received.push(content)), // those are asked for at every turn
      on: (event, handler) => void this.heard(event).add(handler),
      off: (event, handler) => void this.heard(event).delete(handler)
    };
  }

  private heard(event: string): Set<(content: unknown) => void> {
    return event === 'msg:custom' ? this.handlers : this.losing;
  }

  /** The kernel has gone: the page's widget manager says so to its models. */
  die(): void {
    for (const handler of this.losing) handler(undefined);
  }

  tell(content: unknown): void {
    for (const handler of this.handlers) handler(content);
  }

  snapshot(): void {
    this.tell({ type: 'snapshot', seq: this.seq, now: Date.now() / 1000, turn: structuredClone(this.turn) });
  }

  ops(...ops: Op[]): void {
    this.seq += 1;
    this.tell({ type: 'ops', seq: this.seq, ops });
  }
}

export async function frame(): Promise<void> {
  await new Promise(resolve => requestAnimationFrame(() => resolve(undefined)));
  await new Promise(resolve => setTimeout(resolve, 0));
}

let clock_ms = 1;
performance.now = () => clock_ms;

/** Let time pass on the clock by which a request rests; timers do not follow it. */
export function pass(ms: number): void {
  clock_ms += ms;
}

/** A live card of `doc`, drawn; its requests can be answered, unless it is `young`. */
export async function live(doc: Turn, { young = false, part = '' } = {}): Promise<{ el: HTMLElement; kernel: Kernel; dispose: () => void }> {
  const kernel = new Kernel(doc, part);
  const el = document.createElement('div');
  document.body.append(el);
  const dispose = mountLive(kernel.model(), el);
  mounted.push(dispose);
  kernel.snapshot();
  await frame();
  if (!young) pass(BOX_REST_MS);
  return { el, kernel, dispose };
}

export function $(el: Element, selector: string): HTMLElement {
  const found = el.querySelector<HTMLElement>(selector);
  if (!found) throw new Error(`no ${selector} in ${el.innerHTML}`);
  return found;
}

export async function click(el: Element): Promise<void> {
  (el as HTMLElement).click();
  await frame();
}
