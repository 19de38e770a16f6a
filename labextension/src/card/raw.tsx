import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { ToolCall } from '../types';
import { useUi, useUniqueId } from './context';
import { JsonTree } from './json-tree';

type Which = 'raw_input' | 'raw_output';

interface Props {
  call: ToolCall;
  /** Its place among the turn's tool calls. */
  index: number;
}

const LABELS: Record<Which, string> = { raw_input: 'Raw input', raw_output: 'Raw output' };

/** Raw input and output as tabs; none is open at first. */
export function Raw({ call, index }: Props): JSX.Element | null {
  const id = useUniqueId();
  const [chosen, setChosen] = useUi<string>(`raw:${call.tool_call_id}`, '');
  const list = useRef<HTMLDivElement>(null);
  const tabs = (['raw_input', 'raw_output'] as const).filter(which => call[which] !== null);
  const open = tabs.find(which => which === chosen);
  if (tabs.length === 0) return null;

  const onKeyDown = (event: KeyboardEvent): void => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const at = buttons.indexOf(event.target as HTMLButtonElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[(to + buttons.length) % buttons.length]?.focus();
  };

  return (
    <div class="acp-raw" data-open={open}>
      <div class="acp-raw-bar">
        <div class="acp-tabs" role="tablist" aria-label="Raw values of this tool call" ref={list} onKeyDown={onKeyDown}>
          {tabs.map((which, place) => (
            <button
              key={which}
              type="button"
              role="tab"
              class="acp-tab"
              id={`${id}-${which}`}
              aria-selected={which === open}
              aria-controls={which === open ? `${id}-panel` : undefined}
              tabIndex={which === open || (!open && place === 0) ? 0 : -1}
              onClick={() => setChosen(which === open ? '' : which)}
            >
              {LABELS[which]}
            </button>
          ))}
        </div>
        {open ? <code class="acp-expression">turn.tool_calls[{index}].{open}</code> : null}
      </div>
      {open ? (
        <div class="acp-raw-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open}`}>
          <JsonTree key={open} text={call[open] ?? ''} id={`${open}:${call.tool_call_id}`} />
        </div>
      ) : null}
    </div>
  );
}
