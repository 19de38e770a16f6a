import type { JSX } from 'preact';
import { contentOf, hasEnded } from '../store';
import { money, plural } from '../text/format';
import type { Permission, Turn } from '../types';
import { useCard } from './context';
import { Totals } from './diff';
import { shownStatus } from './status';
import { withoutAsking } from './tool-call';

interface Changes {
  files: number;
  added: number;
  removed: number;
}

/** What completed edits changed, each file counted once. */
export function changesOf(turn: Turn): Changes {
  const done = Object.values(turn.tool_calls).filter(call => shownStatus(call) === 'completed');
  const diffs = done.flatMap(call => contentOf(call).flatMap(item => (item.type === 'diff' ? [item] : [])));
  return {
    files: new Set(diffs.map(diff => diff.path)).size,
    added: diffs.reduce((sum, diff) => sum + diff.added, 0),
    removed: diffs.reduce((sum, diff) => sum + diff.removed, 0)
  };
}

/** The card's foot: what changed, what was done without asking, and which turn this was. */
export function Footer({ permissions }: { permissions: Map<string, Permission[]> }): JSX.Element {
  const { turn } = useCard().store;
  const { files, added, removed } = changesOf(turn);
  const unasked = Object.values(turn.tool_calls).filter(call => withoutAsking(call, permissions.get(call.tool_call_id) ?? [])).length;
  // until then the head shows it
  const cost = hasEnded(turn) ? turn.usage?.cost : null;
  return (
    <div class="acp-footer">
      {files > 0 ? <><b>{plural(files, 'file')} changed</b><Totals added={added} removed={removed} /></> : null}
      {unasked > 0 ? <span class="acp-pill acp-pill-wait">{plural(unasked, 'call')} without asking</span> : null}
      <span class="acp-grow" />
      <span>{`turn ${turn.number}${cost ? ` · ${money(cost)}` : ''}`}</span>
    </div>
  );
}
