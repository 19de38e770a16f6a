import type { JSX } from 'preact';
import { own } from '../ops';
import { hasEnded } from '../store';
import type { CompactionItem, Item, NoticeItem, UnknownItem } from '../types';
import { BlockView } from './block';
import { useCard } from './context';
import { ElicitationView } from './elicitation';
import { Fold } from './fold';
import { Icon } from './icons';
import { JsonTree } from './json-tree';
import { Markdown } from './markdown';
import { PlanView } from './plan';
import { Seen } from './seen';
import { TerminalView } from './terminal';
import { Thought } from './thought';

type Drawn = Exclude<Item, { type: 'tool_call' }>;

/** An item of the timeline other than a tool call. */
export function ItemView({ item, id, last }: { item: Drawn; id: string; last: boolean }): JSX.Element | null {
  const { store, live } = useCard();
  switch (item.type) {
    case 'message':
      return <Message role={item.role}><Markdown text={item.text} /></Message>;
    case 'thought':
      return <Thought item={item} id={id} running={live && last && store.turn.ended_at === null} />;
    case 'content':
      return <Message role={item.role}><BlockView block={item.block} id={id} /></Message>;
    case 'plan': {
      const plan = own(store.turn.plans, item.plan_id);
      return plan ? <PlanView plan={plan} ended={hasEnded(store.turn)} /> : null;
    }
    case 'terminal': {
      const terminal = own(store.turn.terminals, item.terminal_id);
      return terminal ? <div class="acp-lone-terminal"><TerminalView terminal={terminal} withCommand /></div> : null;
    }
    case 'elicitation': {
      const node = own(store.turn.elicitations, item.key);
      return node ? <ElicitationView node={node} /> : null;
    }
    case 'notice':
      return <Notice item={item} />;
    case 'compaction':
      return <Compaction item={item} id={id} />;
    case 'mode':
      return <Change what="The agent’s mode" now={item.name} item={item} />;
    case 'option':
      return <Change what={item.name} now={item.value} item={item} />;
    default:
      return <Unknown item={item} id={id} />;
  }
}

function Change({ what, now, item: { by, oversight } }: { what: string; now: string; item: { by?: string; oversight?: string } }): JSX.Element {
  return (
    <div class="acp-mode-change" data-by={by}>
      <Icon name="switch_mode" />
      <span>
        <Seen text={what} /> is now <b><Seen text={now} /></b>{by === 'you' ? ', set by you' : by === 'agent' ? ', changed by the agent itself' : ''}
        {oversight ? <div class="acp-warning" data-reason="oversight"><Seen text={oversight} /></div> : null}
      </span>
    </div>
  );
}

function Message({ role, children }: { role: string; children: JSX.Element }): JSX.Element {
  return (
    <div class="acp-message" data-role={role}>
      {role === 'user' ? <div class="acp-you">you</div> : null}
      {children}
    </div>
  );
}

function Notice({ item }: { item: NoticeItem }): JSX.Element {
  return (
    <div class="acp-notice" data-severity={item.severity}>
      <b><Seen text={item.title} /></b>
      {item.description ? <Markdown text={item.description} /> : null}
    </div>
  );
}

const COMPACTIONS: Record<string, string> = {
  in_progress: 'The agent is shortening its context…',
  completed: 'The agent shortened its context',
  failed: 'The agent failed to shorten its context'
};

function Compaction({ item, id }: { item: CompactionItem; id: string }): JSX.Element {
  const words = own(COMPACTIONS, item.status) ?? `The agent’s context: ${item.status}`;
  const summary = item.summary.map((block, index) => <BlockView key={index} block={block} id={`${id}:${index}`} />);
  return (
    <div class="acp-compaction" data-status={item.status}>
      {summary.length > 0 ? <Fold id={id} label={words}>{() => summary}</Fold> : <span class="acp-quiet">{words}</span>}
      {item.error ? <div class="acp-bad"><Seen text={item.error} /></div> : null}
    </div>
  );
}

function Unknown({ item, id }: { item: UnknownItem; id: string }): JSX.Element {
  const label = <>an update that we do not understand{item.kind ? <>: <Seen text={item.kind} /></> : null}</>;
  return <div class="acp-unknown"><Fold id={id} label={label}>{() => <JsonTree text={item.raw} id={id} />}</Fold></div>;
}
