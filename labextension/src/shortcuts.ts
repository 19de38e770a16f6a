/**
 * Keep the notebook's plain-key shortcuts (`a` inserts a cell, `d d` deletes one) away from keys pressed in a card.
 *
 * The mark that JupyterLab heeds has to stand on the focused element itself, since its command-mode shortcuts select
 * `:focus`. Keys with a modifier, such as save and run, stay the notebook's; in a field, where they edit, only save does.
 */

export const SUPPRESS = 'data-lm-suppress-shortcuts';

function onKeyDown(event: KeyboardEvent): void {
  const target = event.target instanceof Element ? event.target : null;
  const card = target?.closest('.acp-turn');
  if (!target || !card) return;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const edits = target.matches('input, select, textarea') && event.key.toLowerCase() !== 's';
  for (const node of [target, card]) {
    if (plain || edits) node.setAttribute(SUPPRESS, 'true');
    else node.removeAttribute(SUPPRESS);
  }
}

let guarded = false;

/** Listen, once per page, before JupyterLab does: it captures keys at the document. */
export function guardShortcuts(): void {
  if (guarded) return;
  guarded = true;
  window.addEventListener('keydown', onKeyDown, true);
}
