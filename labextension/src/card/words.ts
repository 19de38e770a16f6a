/** Our own words for what the agent does, asks and is told. */

import type { PermissionOption, TurnError } from '../types';
import type { IconName } from './icons';

interface Kind {
  icon: IconName;
  /** At the head of the tool call: `Edit src/loader.py`. */
  verb: string;
  /** In a request: `Claude Code wants to edit …`. */
  wish: string;
}

const KINDS: Record<string, Kind> = {
  read: { icon: 'read', verb: 'Read', wish: 'read' },
  edit: { icon: 'edit', verb: 'Edit', wish: 'edit' },
  delete: { icon: 'delete', verb: 'Delete', wish: 'delete' },
  move: { icon: 'move', verb: 'Move', wish: 'move' },
  search: { icon: 'search', verb: 'Search', wish: 'search' },
  execute: { icon: 'execute', verb: 'Run', wish: 'run' },
  think: { icon: 'think', verb: 'Think', wish: 'think' },
  fetch: { icon: 'fetch', verb: 'Fetch', wish: 'fetch' },
  switch_mode: { icon: 'switch_mode', verb: 'Switch mode', wish: 'switch its mode' }
};
const OTHER: Kind = { icon: 'other', verb: 'Tool', wish: 'use a tool' };

export function kindWords(kind: string): Kind {
  return (Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined) ?? OTHER;
}

/** Whether the protocol knows this kind. */
export function knownKind(kind: string): boolean {
  return kind === 'other' || Object.hasOwn(KINDS, kind);
}

const OPTION_TAGS: Record<string, string> = {
  allow_once: 'allow · once',
  allow_always: 'allow · remembered by the agent',
  reject_once: 'reject · once',
  reject_always: 'reject · remembered by the agent'
};

/** What an option does, in our words, whatever its name says. */
export function optionTag(kind: string): string {
  return (Object.hasOwn(OPTION_TAGS, kind) ? OPTION_TAGS[kind] : undefined) ?? `unknown kind: ${kind}`;
}

const DECIDED: Record<string, string> = {
  allow_once: 'Allowed once',
  allow_always: 'Allowed, and remembered by the agent,',
  reject_once: 'Rejected once',
  reject_always: 'Rejected, and remembered by the agent,'
};

/** What was decided: `Allowed once`. */
export function decidedWords(option: PermissionOption | undefined): string {
  const words = option && Object.hasOwn(DECIDED, option.kind) ? DECIDED[option.kind] : undefined;
  return words ?? 'Answered';
}

/** What went wrong, in one line; an agent that was not found has not begun anything that could stop. */
export function errorWords(error: TurnError): string {
  return `${error.type === 'AgentNotFound' ? 'not started' : 'stopped'}: ${error.message}`;
}

const STOPS: Record<string, string> = {
  max_tokens: 'the token limit was reached',
  max_turn_requests: 'the limit of model requests was reached',
  refusal: 'the agent refused to go on'
};

/** Why a turn ended, where it is worth a word; null for an ordinary end. */
export function stopWords(reason: string | null): string | null {
  if (reason === 'end_turn' || reason === 'cancelled') return null;
  if (reason === null) return 'no reason given';
  return STOPS[reason] ?? `stop reason “${reason}”`;
}
