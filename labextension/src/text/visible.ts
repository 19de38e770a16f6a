/** Make characters seen that would hide, reorder or fake what a person is asked to approve. */

/** Text, or a badge for what cannot be seen; `what` is told of a run. */
export type Piece = string | { badge: string; what: string };

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
  return { badge: hex(code), what: code < 0xa0 ? 'control character' : 'invisible character' };
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
