import type { ComponentChild, JSX } from 'preact';
import { visible } from '../text/visible';

/** An agent's words with nothing hidden in them, apart from the direction of the text around. */
export function Seen({ text }: { text: string }): JSX.Element {
  return <bdi>{pieces(text)}</bdi>;
}

function pieces(text: string): ComponentChild[] {
  return visible(text).map(piece =>
    typeof piece === 'string' ? piece : <span class="acp-hidden" title={piece.what}>{piece.badge}</span>
  );
}

/** The same where only plain text can stand. */
export function seen(text: string): string {
  return visible(text).map(piece => (typeof piece === 'string' ? piece : piece.badge)).join('');
}

const CODE = /(?<!`)`([^`\n]+)`(?!`)/;

/** The same for words that may name things in `backticks`. */
export function SeenProse({ text }: { text: string }): JSX.Element {
  // what is captured stands at the odd places
  const parts = text.split(CODE).map((part, index) => (index % 2 === 1 ? <code dir="ltr">{pieces(part)}</code> : pieces(part)));
  return <bdi>{parts}</bdi>;
}

/** A path or a command: always from left to right, in full. */
export function Code({ text }: { text: string }): JSX.Element {
  return (
    <span class="acp-code" dir="ltr">
      <Seen text={text} />
    </span>
  );
}
