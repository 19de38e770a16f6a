import type { ComponentChildren } from 'preact';
import { own } from '../ops';
import { commandLine, pathsOf } from '../tool-input';
import type { ToolCall, ToolContent } from '../types';
import { BlockView } from './block';
import { useCard } from './context';
import { DiffView } from './diff';
import { Fold } from './fold';
import { JsonTree } from './json-tree';
import { Code } from './seen';
import { TerminalView } from './terminal';

/** What was only looked at is rarely worth its room. */
const LOOKING = ['read', 'search', 'fetch'];

/** Whether diffs have to name their file, since the head names several, or another. */
export function withPath(call: ToolCall): boolean {
  return pathsOf(call).length !== 1;
}

interface Props {
  item: ToolContent;
  call: ToolCall;
  /** Where the turn remembers what is open in it. */
  id: string;
}

/** One item of a tool call's content. */
export function ContentView({ item, call, id }: Props): ComponentChildren {
  const { store } = useCard();
  switch (item.type) {
    case 'diff':
      return <DiffView diff={item} id={id} withPath={withPath(call)} />;
    case 'terminal': {
      const terminal = own(store.turn.terminals, item.terminal_id);
      if (!terminal) return <div class="acp-tool-content acp-quiet">a terminal that is not known: <Code text={item.terminal_id} /></div>;
      return <TerminalView terminal={terminal} withCommand={commandLine(call) === null} />;
    }
    case 'content':
      return <div class="acp-tool-content"><BlockView block={item.block} id={id} foldOver={LOOKING.includes(call.kind) ? 4 : 15} /></div>;
    default:
      return (
        <div class="acp-tool-content acp-unknown">
          <Fold id={id} label="content that we do not understand">{() => <JsonTree text={item.raw} id={id} />}</Fold>
        </div>
      );
  }
}
