import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { copyText } from '../clipboard';

const TOLD_MS = 1500;

interface Props {
  /** Made when it is asked for. */
  text: () => string;
  class: string;
  title?: string;
  children: ComponentChildren;
}

/** A button that copies a text, and says for a moment whether it could. */
export function Copy({ text, children, ...rest }: Props): JSX.Element {
  const [told, tell] = useState('');
  const onClick = async (): Promise<void> => {
    tell((await copyText(text())) ? 'Copied' : 'The browser does not let us copy');
    setTimeout(() => tell(''), TOLD_MS);
  };
  return <button type="button" aria-live="polite" onClick={onClick} {...rest}>{told || children}</button>;
}
