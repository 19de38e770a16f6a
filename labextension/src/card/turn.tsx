import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { own } from '../ops';
import { embeddedTerminals, hasEnded, openKeys, permissionsInOrder } from '../store';
import type { Item, Permission, ToolCall, Turn } from '../types';
import { workedOn } from '../worked-on';
import { useCard } from './context';
import { ErrorView } from './error';
import { Footer } from './footer';
import { Header, LoudPolicy, SubHeader } from './header';
import { ItemView } from './items';
import { Part } from './part';
import { PermissionView } from './permission';
import { useScroll } from './scroll';
import { Seen } from './seen';
import { ToolCallView } from './tool-call';

/** The whole card of a turn. */
export function TurnView(): JSX.Element {
  const { store, live, ui } = useCard();
  const { turn } = store;
  const root = useRef<HTMLElement>(null);
  const permissions = byCall(turn);
  const open = openKeys(turn);
  const requestOf = (key: string): HTMLElement | undefined =>
    [...(root.current?.querySelectorAll<HTMLElement>('[data-key]') ?? [])].find(one => one.dataset.key === key);
  const focus = (key: string): void => {
    const block = requestOf(key);
    block?.scrollIntoView({ block: 'center' });
    body.onScroll(); // noted now, not at the event: the output may be written anew before that
    block?.focus({ preventScroll: true });
  };
  const body = useScroll('body', live && !hasEnded(turn));
  useNewRequests(open, key => {
    const block = requestOf(key);
    if (block && body.ref.current && ui.get('away:body') !== true) bringIntoSight(body.ref.current, block);
  });
  const at = live ? workedOn(turn) : null;
  const head = `${store.revision('')} ${open.join(' ')} ${at?.call.kind} ${at?.path}:${at?.line}`;
  return (
    <article
      class="acp-turn"
      data-state={turn.state}
      data-turn-id={turn.turn_id}
      data-lm-suppress-shortcuts="true"
      aria-label={`Turn ${turn.number} of ${turn.agent.title || turn.agent.name}`}
      ref={root}
    >
      <Part rev={head}>
        <Header open={open} focus={focus} />
        <SubHeader />
        <LoudPolicy />
      </Part>
      <div class="acp-body" ref={body.ref} onScroll={body.onScroll} role="region" aria-label="What the agent said and did">
        {turn.notes.map((note, index) => (
          <div key={`note-${index}`} class="acp-notice acp-note" data-severity={note.severity}><Seen text={note.text} /></div>
        ))}
        <Timeline permissions={permissions} />
        <Orphans permissions={permissions} />
        {turn.state === 'done' && turn.items.length === 0 ? <div class="acp-quiet">The agent returned nothing.</div> : null}
        {turn.error ? <ErrorView error={turn.error} /> : null}
      </div>
      <Footer permissions={permissions} />
    </article>
  );
}

/** Scroll a box just so far that `block` is seen: its end, where the buttons are, before its beginning. */
function bringIntoSight(box: HTMLElement, block: HTMLElement): void {
  const [outer, inner] = [box.getBoundingClientRect(), block.getBoundingClientRect()];
  if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 8;
  else if (inner.top < outer.top) box.scrollTop -= Math.min(outer.top - inner.top, outer.bottom - inner.bottom) + 8;
}

/** Call `show` for the first request that was not open when the card was last drawn. */
function useNewRequests(open: string[], show: (key: string) => void): void {
  const known = useRef<Set<string>>(new Set());
  useLayoutEffect(() => {
    const fresh = open.find(key => !known.current.has(key));
    known.current = new Set(open);
    if (fresh !== undefined) show(fresh);
  });
}

function byCall(turn: Turn): Map<string, Permission[]> {
  const map = new Map<string, Permission[]>();
  for (const permission of permissionsInOrder(turn)) {
    const list = map.get(permission.tool_call_id);
    if (list) list.push(permission);
    else map.set(permission.tool_call_id, [permission]);
  }
  return map;
}

function Timeline({ permissions }: { permissions: Map<string, Permission[]> }): JSX.Element {
  const { turn } = useCard().store;
  const embedded = embeddedTerminals(turn);
  const calls = turn.items.flatMap(item => (item.type === 'tool_call' ? [item.tool_call_id] : []));
  const order = new Map(calls.map((id, index) => [id, index]));
  return (
    <>
      {turn.items.map((item, index) => {
        if (item.type === 'terminal' && embedded.has(item.terminal_id)) return null;
        if (item.type !== 'tool_call') return <OtherItem key={index} item={item} index={index} />;
        const call = own(turn.tool_calls, item.tool_call_id);
        if (!call) return <div key={index} class="acp-quiet">a tool call that is missing in this document</div>;
        return <Call key={index} call={call} index={order.get(item.tool_call_id) ?? 0} permissions={permissions.get(item.tool_call_id) ?? []} />;
      })}
    </>
  );
}

function Call({ call, index, permissions }: { call: ToolCall; index: number; permissions: Permission[] }): JSX.Element {
  const { store } = useCard();
  const rev = `${store.callRevision(call.tool_call_id, permissions.map(one => one.key))} ${permissions.length} ${index} ${store.turn.ended_at}`;
  return <Part rev={rev}><ToolCallView call={call} index={index} permissions={permissions} /></Part>;
}

function OtherItem({ item, index }: { item: Exclude<Item, { type: 'tool_call' }>; index: number }): JSX.Element {
  const { store } = useCard();
  const last = index === store.turn.items.length - 1;
  const node = nodeOf(item);
  const rev = [store.revision(`items/${index}`), node && store.revision(node), last, ['thought', 'plan'].includes(item.type) && hasEnded(store.turn)].join(' ');
  return <Part rev={rev}><ItemView item={item} id={`item:${index}`} last={last} /></Part>;
}

/** The node that an item shows; an empty name where it is its own. */
function nodeOf(item: Item): string {
  if (item.type === 'plan') return `plans/${item.plan_id}`;
  if (item.type === 'terminal') return `terminals/${item.terminal_id}`;
  return item.type === 'elicitation' ? `elicitations/${item.key}` : '';
}

/** Requests about a call that the timeline does not hold: asked all the same. */
function Orphans({ permissions }: { permissions: Map<string, Permission[]> }): JSX.Element {
  const { store } = useCard();
  const placed = new Set(store.turn.items.flatMap(item => (item.type === 'tool_call' ? [item.tool_call_id] : [])));
  const lost = [...permissions].filter(([id]) => !placed.has(id)).flatMap(([, list]) => list);
  return (
    <>
      {lost.map(permission => (
        <section key={permission.key} class="acp-tool-call" data-asking={permission.state === 'open' || undefined}>
          <PermissionView permission={permission} call={own(store.turn.tool_calls, permission.tool_call_id)} />
        </section>
      ))}
    </>
  );
}
