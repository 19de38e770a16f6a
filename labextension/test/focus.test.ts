import { afterEach, expect, it } from 'vitest';
import { rememberFocus, restoreFocus } from '../src/focus';
import type { UiValue } from '../src/page';

const ASKS = 'The agent asks for your permission';

function draw(...requests: { key: string; label: string; button?: string }[]): HTMLElement {
  const root = document.createElement('div');
  root.innerHTML = `<div class="acp-body" tabindex="0">${requests
    .map(one => `<div data-key="${one.key}" aria-label="${one.label}" tabindex="-1">${one.button ? `<button>${one.button}</button>` : ''}</div>`)
    .join('')}</div>`;
  document.body.replaceChildren(root);
  return root;
}

afterEach(() => document.body.replaceChildren());

it.each(['div', 'button'])('of a request that was answered never goes on to one that reads the same (%s)', what => {
  const ui = new Map<string, UiValue>();
  const before = draw({ key: 'edit', label: ASKS, button: 'Allow once' });
  rememberFocus(before, ui);
  before.querySelector<HTMLElement>(what === 'div' ? '[data-key]' : 'button')?.focus();

  const after = draw({ key: 'edit', label: 'Permission' }, { key: 'run', label: ASKS, button: 'Allow once' });
  restoreFocus(after, ui);
  const place = document.activeElement?.closest<HTMLElement>('[data-key]')?.dataset.key;
  expect(place).toBe(what === 'div' ? 'edit' : undefined);
  expect(after.contains(document.activeElement)).toBe(true);
});
