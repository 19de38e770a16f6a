/** The labextension: draws saved turns in JupyterLab and Notebook 7, in trusted notebooks and others. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { mountSaved } from './renderer';
import { MIME } from './types';

class SavedTurn extends Widget implements IRenderMime.IRenderer {
  private unmount: () => void = () => undefined;

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.unmount();
    this.unmount = mountSaved(model.data[MIME], this.node);
    return Promise.resolve();
  }

  override dispose(): void {
    this.unmount();
    super.dispose();
  }
}

const extension: IRenderMime.IExtension = {
  id: 'acp-jupyter:turn',
  description: 'Draws saved turns of a coding agent.',
  rendererFactory: {
    safe: true,
    mimeTypes: [MIME],
    createRenderer: () => new SavedTurn()
  },
  // After the live widget (-10, while there is one), before text/html (50).
  rank: 0,
  dataType: 'json'
};

export default extension;
