/** What an agent works on, as far as it says so. */

import { own } from './ops';
import type { FilePlace } from './page';
import { changedAt } from './tool-input';
import type { Diff, ToolCall, Turn } from './types';

/** The place that the newest tool call with one names last; where a command runs is none. */
export function workedOn(turn: Turn): (FilePlace & { call: ToolCall }) | null {
  for (let at = turn.items.length - 1; at >= 0; at--) {
    const item = turn.items[at];
    const call = item?.type === 'tool_call' ? own(turn.tool_calls, item.tool_call_id) : undefined;
    const place = call && call.kind !== 'execute' ? lastPlace(call) : null;
    if (call && place) return { ...place, call };
  }
  return null;
}

function lastPlace(call: ToolCall): FilePlace | null {
  const diffs = call.content.filter((item): item is Diff => item.type === 'diff');
  const path = call.locations.at(-1)?.path ?? diffs.at(-1)?.path;
  if (path === undefined) return null;
  return { path, line: call.locations.at(-1)?.line ?? changedAt(diffs.filter(diff => diff.path === path).at(-1)) };
}
