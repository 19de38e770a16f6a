/** Keep the keyboard's place when a card is drawn anew: live again, or saved in the place of the live one. */

import type { Ui } from './page';

const KEY = 'focus';
/** Where in a text the cursor stands. */
const CARET = 'caret';

/** What a focused element is called in its card: it has the same name in the next drawing of it. */
function nameOf(root: Element, element: Element): string {
  const name = wordsOf(element);
  const same = [...root.querySelectorAll(element.tagName)].filter(one => wordsOf(one) === name);
  return `${same.indexOf(element)} ${name}`;
}

function wordsOf(element: Element): string {
  // By its key: two requests read alike, and what was pressed on one must not reach the other.
  const request = element.closest<HTMLElement>('[data-key]');
  const label = request === element ? '' : element.getAttribute('aria-label') ?? element.textContent ?? '';
  return `${element.tagName} ${request?.dataset.key ?? ''} ${label.trim().slice(0, 80)}`;
}

/** Remember in `ui` what has the focus in `root`, until it goes elsewhere; being taken out of the page is not that. */
export function rememberFocus(root: HTMLElement, ui: Ui): void {
  root.addEventListener('focusin', event => {
    if (event.target instanceof Element) ui.set(KEY, nameOf(root, event.target));
  });
  for (const type of ['input', 'keyup', 'pointerup', 'focusin']) {
    root.addEventListener(type, () => {
      const at = (document.activeElement as HTMLInputElement | null)?.selectionEnd;
      if (typeof at === 'number') ui.set(CARET, at);
    });
  }
  root.addEventListener('focusout', event => {
    const left = event.target as Element;
    setTimeout(() => {
      if (root.isConnected && root.contains(left) && !root.contains(document.activeElement)) ui.delete(KEY);
    });
  });
}

/** Give the focus back, if nothing else has taken it meanwhile. */
export function restoreFocus(root: HTMLElement, ui: Ui): void {
  const name = ui.get(KEY);
  if (typeof name !== 'string' || (document.activeElement && document.activeElement !== document.body)) return;
  const tag = name.split(' ')[1] ?? '';
  const found = [...root.querySelectorAll<HTMLElement>(tag)].find(one => nameOf(root, one) === name);
  // to take the focus is to move the cursor
  const caret = ui.get(CARET);
  (found ?? root.querySelector<HTMLElement>('.acp-body'))?.focus({ preventScroll: true });
  const field = found as HTMLInputElement | undefined;
  if (typeof caret === 'number' && typeof field?.selectionEnd === 'number') field.setSelectionRange(caret, caret);
}
