import { Component, type ComponentChildren, type JSX, type TargetedMouseEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { exitWords } from '../store';
import { CHUNK, Screen, type Line } from '../terminal/screen';
import type { Style } from '../terminal/sgr';
import { webAddress } from '../text/address';
import { plural } from '../text/format';
import type { Terminal } from '../types';
import { useCard, useUi } from './context';
import { Fold } from './fold';
import { Icon } from './icons';
import { useScroll } from './scroll';
import { Code } from './seen';

const SHOWN_CHUNKS = 20;
/** In a saved turn a command that went well is folded from here on. */
const FOLD_LINES = 12;

interface Props {
  terminal: Terminal;
  /** Whether its command is to be told here, since no tool call does. */
  withCommand: boolean;
}

/** A terminal: its command's output as it comes, and how it ended. */
export function TerminalView({ terminal, withCommand }: Props): JSX.Element {
  const { store, live } = useCard();
  const ended = store.turn.ended_at !== null;
  const lines = ended && terminal.exit_code === 0 ? terminal.output.replace(/\n$/, '').split('\n').length : 0;
  return (
    <div class="acp-terminal" data-terminal-id={terminal.terminal_id}>
      {live && runsForUs(terminal) ? <StopCommand terminal={terminal} /> : null}
      {withCommand ? <div class="acp-terminal-command"><Code text={terminal.command} /></div> : null}
      {/* Decided once for a turn: what was open while it ran stays so. */}
      <MaybeFolded id={`terminal:${terminal.terminal_id}`} lines={lines}>{() => <Output terminal={terminal} />}</MaybeFolded>
    </div>
  );
}

/** Whether it is a command of our own that still runs; what an agent runs itself, only its agent can end. */
function runsForUs(terminal: Terminal): boolean {
  return !terminal.agent_owned && !terminal.released && exitWords(terminal) === null;
}

function StopCommand({ terminal: { terminal_id } }: { terminal: Terminal }): JSX.Element {
  const { send } = useCard();
  const [sent, setSent] = useState(false);
  const stop = (event: TargetedMouseEvent<HTMLElement>): void => {
    send({ type: 'stop_terminal', terminal_id });
    setSent(true);
    // The button goes away; without this, the next key would go to the notebook.
    event.currentTarget.closest('.acp-terminal')?.querySelector<HTMLElement>('.acp-terminal-box')?.focus({ preventScroll: true });
  };
  return (
    <button type="button" class="acp-button acp-stop acp-stop-terminal" disabled={sent} onClick={stop}>
      <Icon name="stop" />{sent ? 'stopping…' : 'Stop this command'}
    </button>
  );
}

function MaybeFolded({ id, lines, children }: { id: string; lines: number; children: () => ComponentChildren }): JSX.Element {
  const [folds] = useUi<boolean>(`folds:${id}`, lines > FOLD_LINES);
  return folds ? <Fold id={id} label={`${plural(lines, 'line')} of output`}>{children}</Fold> : <>{children()}</>;
}

function Output({ terminal }: { terminal: Terminal }): JSX.Element {
  const screen = useScreen(terminal.output);
  const [all, setAll] = useUi<boolean>(`all:terminal:${terminal.terminal_id}`, false);
  const { ref, onScroll } = useScroll(`terminal:${terminal.terminal_id}`, exitWords(terminal) === null);
  const from = all ? 0 : Math.max(0, screen.chunks.length - SHOWN_CHUNKS);
  const current = screen.current;
  const exit = exitWords(terminal);
  return (
    <div class="acp-terminal-box" ref={ref} onScroll={onScroll} role="log" aria-live="off" aria-label="Terminal output" dir="ltr">
      {terminal.truncated ? <div class="acp-terminal-note">the beginning of the output was dropped</div> : null}
      {from > 0 ? (
        <button type="button" class="acp-more" onClick={() => setAll(true)}>show all {plural(screen.lines, 'line')}</button>
      ) : null}
      {screen.chunks.slice(from).map((chunk, index) => <ChunkView key={from + index} lines={chunk} count={chunk.length} />)}
      {current ? <div class="acp-terminal-line">{drawLine(current)}</div> : null}
      {exit !== null && terminal.exit_code !== 0 ? <div class="acp-terminal-exit">{exit}</div> : null}
    </div>
  );
}

function useScreen(output: string): Screen {
  const held = useRef<Screen | undefined>(undefined);
  if (!held.current?.update(output)) {
    held.current = new Screen();
    held.current.update(output);
  }
  return held.current;
}

class ChunkView extends Component<{ lines: Line[]; count: number }> {
  override shouldComponentUpdate(next: { lines: Line[]; count: number }): boolean {
    return next.count !== this.props.count || next.lines !== this.props.lines;
  }

  override render(): ComponentChildren {
    const { lines } = this.props;
    return (
      <div class="acp-terminal-chunk" style={lines.length === CHUNK ? { 'content-visibility': 'auto', 'contain-intrinsic-height': `auto ${CHUNK * 17}px` } : undefined}>
        {lines.map((line, index) => <div key={index} class="acp-terminal-line">{drawLine(line)}</div>)}
      </div>
    );
  }
}

/** So much of a line is drawn; a megabyte without a break would hold the page up. */
const LONG_LINE = 10_000;

export function drawLine(line: Line): ComponentChildren {
  if (line.length === 0) return '\u00a0';
  let room = LONG_LINE;
  const shown = line.flatMap(({ text, style }) => {
    const part = text.slice(0, Math.max(room, 0));
    room -= text.length;
    return part ? { text: part, style } : [];
  });
  if (room >= 0) return drawSpans(line);
  return [drawSpans(shown), <span class="acp-terminal-note">… {plural(-room, 'more character')} in Python</span>];
}

function drawSpans(line: Line): ComponentChildren[] {
  return line.map(({ text, style }, at) => {
    const css = cssOf(style);
    const { link } = style;
    const words = link ? <Link to={link}>{text}</Link> : linked(text);
    // where its words are others than its target, that stands behind them
    const target = link && line[at + 1]?.style.link !== link && text !== link ? <span class="acp-target"> ({link})</span> : null;
    return css ? <span style={css}>{words}{target}</span> : [words, target];
  });
}

const ADDRESS = /(https?:\/\/[^\s<>"'`\\]*[^\s<>"'`\\.,;:!?()[\]{}])/i;

/** A text with the addresses in it as links. */
function linked(text: string): ComponentChildren {
  if (!text.includes('://')) return text;
  // what is captured stands at the odd places
  return text.split(ADDRESS).map((part, at) => {
    const to = at % 2 === 1 ? webAddress(part) : null;
    return to ? <Link to={to}>{part}</Link> : part;
  });
}

function Link({ to, children }: { to: string; children: string }): JSX.Element {
  return <a href={to} title={to} target="_blank" rel="noopener noreferrer">{children}</a>;
}

function cssOf(style: Style): Record<string, string> | null {
  const [fg, bg] = style.inverse ? [style.bg ?? 'var(--acp-term-bg)', style.fg ?? 'var(--acp-term-ink)'] : [style.fg, style.bg];
  const lines = [style.underline ? 'underline' : '', style.strike ? 'line-through' : ''].join(' ').trim();
  const css: Record<string, string> = {};
  if (fg) css.color = fg;
  if (bg) css['background-color'] = bg;
  if (style.bold) css['font-weight'] = '600';
  if (style.dim) css.opacity = '0.65';
  if (style.italic) css['font-style'] = 'italic';
  if (lines) css['text-decoration'] = lines;
  return Object.keys(css).length > 0 ? css : null;
}
