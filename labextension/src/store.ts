/** One store per turn: the document, what changed in it, and what was clicked. */

import { applyOp, own } from './ops';
import type { Offer, Permission, Terminal, ToCard, ToolCall, ToolContent, Turn, Updates } from './types';

export class TurnStore {
  turn: Turn;
  /** Kernel's clock less ours, in seconds. */
  clockOffset = 0;
  /** Answers on their way, by the key of what was asked: an option's id or an action, until the document says otherwise. */
  readonly sent = new Map<string, string | null>();
  /** What calls have been updated by, as far as a view has asked the kernel for it. */
  readonly updates = new Map<string, Updates>();
  /** What may be chosen, as far as a view has asked the kernel for it. */
  offers: Offer[] = [];
  /** The number of the last message applied. */
  seq = 0;

  private epoch = 0;
  private readonly revisions = new Map<string, number>();
  private readonly listeners = new Set<() => void>();

  constructor(turn: Turn) {
    this.turn = turn;
  }

  /** A number that changes whenever the node does; nodes are named as in `applyOp`. */
  revision(node: string): string {
    return `${this.epoch}.${this.revisions.get(node) ?? 0}`;
  }

  /** The same for a tool call together with its terminals and the given permission requests. */
  callRevision(toolCallId: string, permissionKeys: string[]): string {
    const content = contentOf(own(this.turn.tool_calls, toolCallId));
    const terminals = content.flatMap(item => (item.type === 'terminal' ? [`terminals/${item.terminal_id}`] : []));
    const permissions = permissionKeys.map(key => `permissions/${key}`);
    return [`tool_calls/${toolCallId}`, ...terminals, ...permissions].map(node => this.revision(node)).join(' ');
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  snapshot(message: Extract<ToCard, { type: 'snapshot' }>): void {
    // Every view of a turn hands us the same message; only the first one counts.
    if (this.turn === message.turn && this.seq >= message.seq && this.epoch > 0) return;
    this.turn = message.turn;
    this.seq = message.seq;
    this.clockOffset = message.now - Date.now() / 1000;
    this.epoch += 1;
    this.settle();
    this.notify();
  }

  /**
   * Apply an `ops` message.
   *
   * @returns False where messages were missed or do not fit: ask for a resync.
   */
  ops(message: Extract<ToCard, { type: 'ops' }>): boolean {
    if (message.seq <= this.seq) return true;
    if (message.seq !== this.seq + 1) return false;
    try {
      for (const op of message.ops) this.touch(applyOp(this.turn, op));
    } catch {
      return false;
    }
    this.seq = message.seq;
    this.settle();
    this.notify();
    return true;
  }

  /** Take what the kernel told about a call's updates. */
  updated(message: Updates): void {
    this.updates.set(message.tool_call_id, message);
    this.touch(`tool_calls/${message.tool_call_id}`);
    this.notify();
  }

  /** Take what may be chosen now. */
  offered(offers: Offer[]): void {
    this.offers = offers;
    this.touch('');
    this.notify();
  }

  /** Remember an answer on its way; false where one already is, or what was asked is not open. */
  send(key: string, answer: string | null): boolean {
    if (this.sent.has(key) || !openKeys(this.turn).includes(key)) return false;
    this.sent.set(key, answer);
    this.redraw(key);
    return true;
  }

  /** Draw what was asked anew, in every view: somebody has clicked or typed there. */
  redraw(key: string): void {
    this.touch(`${own(this.turn.permissions, key) ? 'permissions' : 'elicitations'}/${key}`);
    this.notify();
  }

  /** Mark `node` as changed. */
  private touch(node: string | null): void {
    if (node === null) this.epoch += 1;
    else this.revisions.set(node, (this.revisions.get(node) ?? 0) + 1);
  }

  private settle(): void {
    if (this.sent.size === 0) return;
    const open = openKeys(this.turn);
    for (const key of [...this.sent.keys()]) {
      if (!open.includes(key)) this.sent.delete(key);
    }
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}

const ENDED = ['done', 'cancelled', 'failed'];

/** Whether the turn is over; the kernel says so by its time or by its state. */
export function hasEnded(turn: Turn): boolean {
  return turn.ended_at !== null || ENDED.includes(turn.state);
}

/** The terminals that some tool call shows; a `terminal` item of those is not drawn. */
export function embeddedTerminals(turn: Turn): Set<string> {
  const content = Object.values(turn.tool_calls).flatMap(contentOf);
  return new Set(content.flatMap(item => (item.type === 'terminal' ? [item.terminal_id] : [])));
}

/** A call's content; a damaged call has none, and says so where it is drawn. */
export function contentOf(call: ToolCall | undefined): ToolContent[] {
  return Array.isArray(call?.content) ? call.content : [];
}

/** The permission requests in the order in which they came: an object's keys do not keep it where they look like numbers. */
export function permissionsInOrder(turn: Turn): Permission[] {
  return Object.values(turn.permissions).sort((a, b) => (a.opened_at ?? 0) - (b.opened_at ?? 0));
}

/** The keys of all that waits for a person's answer, in the order in which it came. */
export function openKeys({ permissions, elicitations }: Turn): string[] {
  const open = [...Object.values(permissions), ...Object.values(elicitations)].filter(one => one.state === 'open');
  return open.sort((a, b) => (a.opened_at ?? 0) - (b.opened_at ?? 0)).map(one => one.key);
}

/** A terminal's end in words: `exit 1`, `killed by SIGKILL`; null while it runs. */
export function exitWords({ signal, exit_code, stopped_by }: Terminal): string | null {
  const words = signal ? `killed by ${signal}` : exit_code === null ? null : `exit ${exit_code}`;
  return words && stopped_by ? `${words}, stopped by ${stopped_by}` : words;
}
