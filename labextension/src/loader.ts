/** The anywidget module of each card: small, since it is sent with every one. */

import { loadRenderer, type HostModel } from './asset';

async function render({ model, el }: { model: HostModel; el: HTMLElement }): Promise<(() => void) | undefined> {
  try {
    return (await loadRenderer(model)).mountLive(model, el);
  } catch (error) {
    el.textContent = `acp_jupyter: the card could not be drawn (${error instanceof Error ? error.message : error}). Run the cell again, or reload the page.`;
    return undefined;
  }
}

export default { render };
