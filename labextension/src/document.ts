/** Check a document from outside before it is drawn: a damaged one gives a line, never a blank or a broken card. */

import { isObject, mend } from './mend';
import { VERSION, type Turn } from './types';

/**
 * Look whether `doc` is a turn that can be drawn.
 *
 * @throws Error with a line for the reader where it is of another version, or damaged.
 */
export function check(doc: unknown): asserts doc is Record<string, unknown> {
  if (!isObject(doc)) throw new Error('This saved turn is damaged: it is not a JSON object.');
  if (doc.version !== VERSION) {
    const newer = typeof doc.version === 'number' && doc.version > VERSION;
    throw new Error(
      newer
        ? `This turn was saved in format ${doc.version}; this acp_jupyter reads format ${VERSION}. Update acp_jupyter to see it.`
        : `This saved turn is damaged: its version is ${JSON.stringify(doc.version) ?? 'missing'}.`
    );
  }
  const lists = ['items'].filter(key => !Array.isArray(doc[key]));
  const maps = ['tool_calls', 'terminals', 'permissions', 'plans'].filter(key => !isObject(doc[key]));
  const broken = [...lists, ...maps, ...(isObject(doc.agent) ? [] : ['agent'])];
  if (broken.length > 0) throw new Error(`This saved turn is damaged: ${broken.join(', ')} cannot be read.`);
}

/**
 * Return the turn in the saved `doc`, mended where it is damaged; a note in it then says where.
 *
 * @throws Error as `check` does.
 */
export function readTurn(doc: unknown): Turn {
  check(doc);
  const { turn, wrong } = mend({ ...EMPTY, ...doc });
  return wrong.length > 0 ? withNote(turn as Turn, wrong) : (turn as Turn);
}

const TOLD = 5;

function withNote(turn: Turn, wrong: string[]): Turn {
  const more = wrong.length > TOLD ? ` and ${wrong.length - TOLD} more` : '';
  const text = `This saved turn is damaged. Parts that cannot be read as they should: ${wrong.slice(0, TOLD).join(', ')}${more}.`;
  return { ...turn, notes: [{ severity: 'warning', text }, ...turn.notes] };
}

const EMPTY: Omit<Turn, 'agent' | 'items' | 'tool_calls' | 'terminals' | 'permissions' | 'plans'> = {
  version: VERSION,
  turn_id: '',
  number: 0,
  session_id: null,
  cwd: '',
  additional_directories: [],
  policy: 'ask',
  state: 'done',
  started_at: null,
  ended_at: null,
  stop_reason: null,
  error: null,
  notes: [],
  title: null,
  mode: null,
  options: [],
  usage: null,
  elicitations: {}
};
