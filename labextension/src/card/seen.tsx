import type { JSX } from 'preact';
import { visible } from '../text/visible';

/** An agent's words with nothing hidden in them, apart from the direction of the text around. */
export function Seen({ text }: { text: string }): JSX.Element {
  const pieces = visible(text).map(piece =>
    typeof piece === 'string' ? piece : <span class="acp-hidden" title={piece.what}>{piece.badge}</span>
  );
  return <bdi>{pieces}</bdi>;
}

/** A path or a command: always from left to right, in full. */
export function Code({ text }: { text: string }): JSX.Element {
  return (
    <span class="acp-code" dir="ltr">
      <Seen text={text} />
    </span>
  );
}
