/** The plugins of the labextension; what draws the saved card is its MIME extension, `plugin.ts`. */

import { INotebookTracker } from '@jupyterlab/notebook';
import notebooks from './notebooks';
import { follow, type App } from './terminals';

const terminals = {
  id: 'acp-jupyter:terminals',
  description: 'Opens a terminal for a log-in that runs in one.',
  autoStart: true,
  optional: [INotebookTracker],
  activate: (app: App, tracker: INotebookTracker | null): void => {
    tracker?.forEach(panel => follow(app, panel));
    tracker?.widgetAdded.connect((_sender, panel) => follow(app, panel));
  }
};

export default [notebooks, terminals];
