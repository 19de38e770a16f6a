/** The turn document, as `docs/turn-format.md` describes it. Fields are the protocol's words in snake_case. */

export const MIME = 'application/vnd.acp-jupyter.turn.v1+json';
export const VERSION = 1;

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Turn {
  version: number;
  turn_id: string;
  number: number;
  session_id: string | null;
  agent: { name: string; title: string | null; version: string | null };
  cwd: string;
  additional_directories: string[];
  policy: string;
  state: string;
  started_at: number | null;
  ended_at: number | null;
  stop_reason: string | null;
  /** The agent told it from its memory, when it loaded the session. */
  replayed?: boolean;
  cancel_requested?: boolean;
  /** Questions are asked by text: no card can be clicked. */
  by_text?: boolean;
  error: TurnError | null;
  notes: { severity: string; text: string }[];
  title: string | null;
  mode: { id: string; name: string } | null;
  options: { id: string; name: string; category: string | null; value: string }[];
  usage: Usage | null;
  items: Item[];
  tool_calls: Record<string, ToolCall>;
  terminals: Record<string, Terminal>;
  permissions: Record<string, Permission>;
  elicitations: Record<string, Elicitation>;
  plans: Record<string, Plan>;
}

export interface TurnError {
  type: string;
  message: string;
  advice: string;
  stderr: string;
}

export interface Usage {
  used: number;
  size: number;
  cost: { amount: number; currency: string } | null;
}

export type Item =
  | { type: 'message'; role: string; message_id: string | null; text: string }
  | ThoughtItem
  | { type: 'content'; role: string; message_id: string | null; block: Block }
  | { type: 'plan'; plan_id: string }
  | { type: 'tool_call'; tool_call_id: string }
  | { type: 'terminal'; terminal_id: string }
  | { type: 'elicitation'; key: string }
  | NoticeItem
  | CompactionItem
  | { type: 'mode'; id: string; name: string; by?: string; oversight?: string }
  | { type: 'option'; id: string; name: string; value: string; by?: string; oversight?: string }
  | UnknownItem;

export interface ThoughtItem {
  type: 'thought';
  message_id: string | null;
  text: string;
  started_at: number | null;
  ended_at: number | null;
}

export interface NoticeItem {
  type: 'notice';
  severity: string;
  title: string;
  description: string | null;
}

export interface CompactionItem {
  type: 'compaction';
  compaction_id: string;
  status: string;
  summary: Block[];
  error: string | null;
}

export interface UnknownItem {
  type: 'unknown';
  kind: string | null;
  raw: string;
}

/** A content block of the protocol, as it came: camelCase within. */
export interface Block {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string | null;
  uri?: string | null;
  name?: string;
  title?: string | null;
  description?: string | null;
  size?: number | null;
  resource?: { uri?: string; text?: string; blob?: string; mimeType?: string | null };
}

export interface ToolCall {
  tool_call_id: string;
  title: string;
  name: string | null;
  kind: string;
  status: string;
  local_status: string | null;
  locations: Location[];
  content: ToolContent[];
  raw_input: string | null;
  raw_output: string | null;
  /** JSON texts: the first and the last of `updates_count`. A live card asks for them. */
  updates?: string[];
  updates_count?: number;
  started_at: number | null;
  ended_at: number | null;
}

export interface Location {
  path: string;
  line: number | null;
}

export type ToolContent =
  | { type: 'content'; block: Block }
  | { type: 'terminal'; terminal_id: string }
  | Diff
  | { type: 'unknown'; raw: string };

export interface Diff {
  type: 'diff';
  path: string;
  is_new: boolean;
  new_text: string;
  edits: Edit[];
  /** How lines end in the old and in the new text, `LF` or `CRLF`; absent where that is no matter, or is seen in each line. */
  line_ends?: [string, string];
  added: number;
  removed: number;
}

/** `add` new lines from index `at` stand where the old lines `del` stood. */
export interface Edit {
  at: number;
  add: number;
  del: string[];
  section: string | null;
  marks: Mark[];
}

/** Side, line index within that side of the edit, from and to in code points. */
export type Mark = ['-' | '+', number, number, number];

export interface Terminal {
  terminal_id: string;
  command: string;
  cwd: string;
  output: string;
  truncated: boolean;
  exit_code: number | null;
  signal: string | null;
  released: boolean;
  stopped_by?: string;
  agent_owned?: boolean;
  started_at: number | null;
  ended_at: number | null;
}

export interface PermissionOption {
  option_id: string;
  name: string;
  kind: string;
  /** Another one has the same id, and is safer. */
  left_out?: boolean;
}

export interface Permission {
  key: string;
  tool_call_id: string;
  options: PermissionOption[];
  state: string;
  option_id: string | null;
  decided_by: string | null;
  reason: string | null;
  opened_at: number | null;
  decided_at: number | null;
  /** The call as it stood when this was asked; null while the call still shows all of it. */
  asked: ToolCall | null;
  /** What is odd about it: a word for its kind, and a sentence. */
  warnings: { reason: string; text: string }[];
  /** Its files are being looked at: it takes no answer yet. */
  checking: boolean;
}

/** A form that the agent asks a person to fill in, or an address that it asks to be opened. */
export interface Elicitation {
  key: string;
  mode: string;
  message: string;
  title: string | null;
  description: string | null;
  fields: Field[];
  url: string | null;
  address: { before: string; host: string; after: string; warnings: string[] } | null;
  tool_call_id: string | null;
  state: string;
  /** JSON text of the values that were sent. */
  content: string | null;
  faults: Record<string, string>;
  decided_by: string | null;
  reason: string | null;
  opened_at: number | null;
  decided_at: number | null;
  completed: boolean;
}

export interface Field {
  name: string;
  kind: string;
  title: string | null;
  description: string | null;
  required: boolean;
  rules: string[];
  /** JSON text. */
  default: string | null;
  choices: { value: string; title: string; description: string | null }[];
  maximum: number | null;
  format: string | null;
  secret: boolean;
}

export type ElicitAction = 'accept' | 'decline' | 'cancel' | 'check';

/** What was put into a form: numbers as they were typed, null where nothing. */
export type Entered = Record<string, string | boolean | string[] | null>;

export interface Plan {
  entries: { content: string; priority: string; status: string }[];
}

export type PathPart = string | number;

export type Op =
  | { op: 'merge'; path: PathPart[]; value: Record<string, unknown> }
  | { op: 'append'; path: PathPart[]; value: string };

export type Updates = { type: 'updates'; tool_call_id: string } & Required<Pick<ToolCall, 'updates' | 'updates_count'>>;

/** What may be chosen now: the mode (where `option_id` is null), the model, other options. */
export interface Offers {
  type: 'offers';
  offers: Offer[];
}

export interface Offer {
  option_id: string | null;
  name: string;
  category: string | null;
  value: string | null;
  groups: { name: string | null; values: { value: string; name: string }[] }[];
}

export type ToCard =
  | { type: 'snapshot'; seq: number; now: number; turn: Turn }
  | { type: 'ops'; seq: number; ops: Op[] }
  | { type: 'bundle'; data: Record<string, unknown> }
  | Updates
  | Offers;

export type FromCard =
  | { type: 'ready'; seq: number }
  | { type: 'resync' }
  | { type: 'cleared' }
  | { type: 'bundle' }
  | { type: 'decide'; key: string; option_id: string | null }
  | { type: 'elicit'; key: string; action: ElicitAction; content: Entered | null }
  | { type: 'updates'; tool_call_id: string }
  | { type: 'offers' }
  | { type: 'choose'; option_id: string | null; value: string }
  | { type: 'stop_terminal'; terminal_id: string }
  | { type: 'cancel' };

/** What we use of an anywidget model. */
export interface Model {
  get(name: string): unknown;
  send(content: FromCard): void;
  on(event: string, handler: (content: unknown) => void): void;
  off(event: string, handler: (content: unknown) => void): void;
}
