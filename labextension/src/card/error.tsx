import type { JSX } from 'preact';
import type { TurnError } from '../types';
import { Markdown } from './markdown';
import { Seen } from './seen';
import { Screen } from '../terminal/screen';
import { drawLine } from './terminal';
import { errorWords } from './words';

/** Why the turn stopped: the agent's last words on stderr, and what to do next. */
export function ErrorView({ error }: { error: TurnError }): JSX.Element {
  const stderr = error.stderr.trim();
  return (
    <div class="acp-error">
      <div class="acp-bad"><Seen text={errorWords(error)} /></div>
      {stderr ? <Stderr text={stderr} /> : null}
      {error.advice ? <div class="acp-advice"><Markdown text={error.advice} /></div> : null}
    </div>
  );
}

function Stderr({ text }: { text: string }): JSX.Element {
  const screen = new Screen();
  screen.update(`${text}\n`);
  return (
    <div class="acp-terminal-box acp-stderr" tabIndex={0} aria-label="Last lines of the agent's error output">
      <div class="acp-terminal-note">last lines of its error output</div>
      {screen.chunks.flat().map((line, index) => <div key={index} class="acp-terminal-line">{drawLine(line)}</div>)}
    </div>
  );
}
