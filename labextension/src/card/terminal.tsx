import { Component, type ComponentChildren, type JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { exitWords } from '../store';
import { CHUNK, Screen, type Line } from '../terminal/screen';
import type { Style } from '../terminal/sgr';
import { plural } from '../text/format';
import type { Terminal } from '../types';
import { useCard, useUi } from './context';
import { Fold } from './fold';
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
  const { store } = useCard();
  const ended = store.turn.ended_at !== null;
  const lines = ended && terminal.exit_code === 0 ? terminal.output.replace(/\n$/, '').split('\n').length : 0;
  return (
    <div class="acp-terminal" data-terminal-id={terminal.terminal_id}>
      {withCommand ? <div class="acp-terminal-command"><Code text={terminal.command} /></div> : null}
      {/* Decided once for a turn: what was open while it ran stays so. */}
      <MaybeFolded id={`terminal:${terminal.terminal_id}`} lines={lines}>{() => <Output terminal={terminal} />}</MaybeFolded>
    </div>
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

export function drawLine(line: Line): ComponentChildren {
  if (line.length === 0) return '\u00a0';
  return line.map(({ text, style }) => {
    const css = cssOf(style);
    return css ? <span style={css}>{text}</span> : text;
  });
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
