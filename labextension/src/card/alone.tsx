import type { JSX } from 'preact';
import { own } from '../ops';
import { permissionsInOrder } from '../store';
import { useCard } from './context';
import { DiffView } from './diff';
import { ToolCallView } from './tool-call';

/** A part of a turn that stands by itself, without the turn's head and foot: its diffs, or a request and its call. */
export function Alone({ part }: { part: string }): JSX.Element {
  const { turn } = useCard().store;
  return (
    <div class="acp-alone" data-lm-suppress-shortcuts="true">
      {part === 'permission' ? <Requests /> : Object.values(turn.tool_calls).flatMap(call =>
        call.content.map((item, index) => (item.type === 'diff' ? <DiffView key={index} diff={item} id={`alone:${index}`} withPath /> : null))
      )}
    </div>
  );
}

function Requests(): JSX.Element {
  const { turn } = useCard().store;
  return (
    <>
      {permissionsInOrder(turn).map(permission => {
        const call = own(turn.tool_calls, permission.tool_call_id);
        return call ? <ToolCallView key={permission.key} call={call} index={0} permissions={[permission]} /> : null;
      })}
    </>
  );
}
