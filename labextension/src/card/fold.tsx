import type { ComponentChildren, JSX } from 'preact';
import { useUi } from './context';
import { Icon } from './icons';

interface Props {
  /** Where the turn remembers whether it is open. */
  id: string;
  label: ComponentChildren;
  open?: boolean;
  children: () => ComponentChildren;
}

/** A section behind its title; what is inside is made when it is first opened. */
export function Fold({ id, label, open = false, children }: Props): JSX.Element {
  const [isOpen, setOpen] = useUi<boolean>(`open:${id}`, open);
  return (
    <div class="acp-fold">
      <button type="button" class="acp-fold-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="caret" />
        <span>{label}</span>
      </button>
      {isOpen ? <div class="acp-fold-body">{children()}</div> : null}
    </div>
  );
}
