import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ToolCall } from '../types';
import { useCard, useUi, useUniqueId } from './context';
import { Inspector } from './json-tree';

interface Props {
  call: ToolCall;
  /** Its place among the turn's tool calls. */
  index: number;
}

const TABS = { raw_input: 'Raw input', raw_output: 'Raw output', updates: 'Updates' };
type Which = keyof typeof TABS;

/** Raw input, raw output and the updates that made them, as tabs; none is open at first. */
export function Raw({ call, index }: Props): JSX.Element | null {
  const id = useUniqueId();
  const [chosen, setChosen] = useUi<string>(`raw:${call.tool_call_id}`, '');
  const list = useRef<HTMLDivElement>(null);
  const count = call.updates_count ?? 0;
  const tabs = (Object.keys(TABS) as Which[]).filter(which => (which === 'updates' ? count > 0 : call[which] !== null));
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

  const inspected = { id: `${open}:${call.tool_call_id}`, root: `turn.tool_calls[${index}].${open}` };
  return (
    <div class="acp-raw">
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
            {TABS[which]}{which === 'updates' ? ` (${count.toLocaleString('en-US')})` : ''}
          </button>
        ))}
      </div>
      {open ? (
        <div class="acp-raw-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open}`}>
          {open === 'updates' ? <Updates call={call} {...inspected} /> : <Inspector key={open} text={call[open] ?? ''} {...inspected} />}
        </div>
      ) : null}
    </div>
  );
}

const AGAIN_MS = 500;

/** The updates; a live card asks the kernel for them while it shows them, for a call may have thousands. */
function Updates({ call, ...inspected }: { call: ToolCall; id: string; root: string }): JSX.Element {
  const { store, live, send } = useCard();
  const { tool_call_id, updates, updates_count = 0 } = call;
  const told = updates ? { updates, updates_count } : store.updates.get(tool_call_id);
  const behind = live && told?.updates_count !== updates_count;
  useEffect(() => {
    if (!behind) return undefined;
    const timer = setTimeout(() => send({ type: 'updates', tool_call_id }), told ? AGAIN_MS : 0);
    return () => clearTimeout(timer);
  }, [behind, told]);
  if (!told) return <span class="acp-quiet">{live ? 'asking the kernel…' : 'not kept'}</span>;
  return <Inspector text={`[${told.updates.join()}]`} gap={told.updates_count - told.updates.length} {...inspected} />;
}
