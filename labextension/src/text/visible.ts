/** Make characters seen that would hide, reorder or fake what a person is asked to approve. */

export type Piece = string | { badge: string; what: string };

const NAMES: Record<number, string> = {
  0x00: 'null character', 0x07: 'bell', 0x08: 'backspace', 0x0d: 'carriage return', 0x1b: 'escape character', 0x7f: 'delete character',
  0xad: 'soft hyphen', 0x61c: 'Arabic letter mark', 0x200b: 'zero-width space', 0x200c: 'zero-width non-joiner', 0x200d: 'zero-width joiner',
  0x200e: 'left-to-right mark', 0x200f: 'right-to-left mark', 0x2028: 'line separator', 0x2029: 'paragraph separator',
  0x202a: 'left-to-right embedding', 0x202b: 'right-to-left embedding', 0x202c: 'end of direction change', 0x202d: 'left-to-right override',
  0x202e: 'right-to-left override', 0x2060: 'word joiner', 0x2066: 'left-to-right isolate', 0x2067: 'right-to-left isolate',
  0x2068: 'first strong isolate', 0x2069: 'end of direction isolate', 0xfeff: 'byte order mark', 0xfffd: 'replacement character'
};

// Controls but tab and newline, default-ignorable characters, direction controls, blanks that look like nothing, tags.
const HIDDEN =
  '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f' +
  '\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffc\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';
const SPACES = '[ \\t\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]';
/** From here on a run of spaces may push what follows out of sight. */
const LONG_RUN = 32;
const SPECIAL = new RegExp(`([${HIDDEN}])|(${SPACES}{${LONG_RUN},})|\\n((?:[ \\t]*\\n){4,})`, 'gu');

/** A variation selector or a joiner within an emoji hides nothing. */
const EMOJI_BEFORE = /[\p{Extended_Pictographic}\u{1f3fb}-\u{1f3ff}\ufe0f]$/u;

function partOfEmoji(char: string | undefined, text: string, at: number): boolean {
  return (char === '\ufe0f' || char === '\u200d') && EMOJI_BEFORE.test(text.slice(Math.max(0, at - 2), at));
}

function hex(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function badgeOf(char: string): Piece {
  const code = char.codePointAt(0) ?? 0;
  return { badge: hex(code), what: NAMES[code] ?? (code < 0xa0 ? 'control character' : 'invisible character') };
}

/** Split `text` into what can be shown as it is, and badges for what cannot be seen. */
export function visible(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(SPECIAL)) {
    const [all, hidden, spaces, lines] = match;
    if (partOfEmoji(hidden, text, match.index)) continue;
    if (match.index > from) pieces.push(text.slice(from, match.index));
    from = match.index + all.length;
    if (hidden !== undefined) pieces.push(badgeOf(hidden));
    else if (spaces !== undefined) pieces.push({ badge: `↦ ${spaces.length} spaces`, what: `run of ${spaces.length} spaces` });
    else if (lines !== undefined) {
      const count = lines.split('\n').length - 1;
      pieces.push({ badge: `↵ ${count} empty lines`, what: `run of ${count} empty lines` }, '\n');
    }
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** What `texts` hide, in words: `a right-to-left override and a run of 214 spaces`; null where nothing. */
export function hiddenWords(texts: string[]): string | null {
  const found = texts.flatMap(text => visible(text).flatMap(piece => (typeof piece === 'string' ? [] : [piece.what])));
  const words = [...new Set(found)].map(what => `${/^[aeiou]/i.test(what) ? 'an' : 'a'} ${what}`);
  if (words.length === 0) return null;
  return words.length === 1 ? (words[0] as string) : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
