import type { JSX } from 'preact';
import { roughly } from '../text/format';
import type { ThoughtItem } from '../types';
import { Fold } from './fold';
import { Markdown } from './markdown';

function label({ started_at, ended_at }: ThoughtItem, running: boolean): string {
  if (started_at !== null && ended_at !== null) return `Thought for ${roughly(ended_at - started_at)}`;
  return running ? 'Thinking…' : 'Thought';
}

/** The agent's thinking, folded. */
export function Thought({ item, id, running }: { item: ThoughtItem; id: string; running: boolean }): JSX.Element {
  return (
    <div class="acp-thought">
      <Fold id={id} label={label(item, running)}>{() => <Markdown text={item.text} />}</Fold>
    </div>
  );
}
