/** The plugins of the labextension; what draws the saved card is its MIME extension, `plugin.ts`. */

import { ICompletionProviderManager } from '@jupyterlab/completer';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { INotebookTracker } from '@jupyterlab/notebook';
import commands from './commands';
import { Completion, type App as Contents } from './completion';
import files from './files';
import { listenForSettled } from './input';
import { eachKernel, eachNotebook } from './kernels';
import { lookAfter, notebooksOf } from './notebooks';
import { setNotebooks } from './page';
import { followPrompts } from './prompts';
import { notices, status } from './status';
import { listen, type App } from './terminals';

const notebooks = {
  id: 'acp-jupyter:notebooks',
  description: 'Keeps the cards of turns in notebooks: live ones while their turn runs, what was saved where the kernel has gone.',
  autoStart: true,
  optional: [INotebookTracker],
  activate: (_app: unknown, tracker: INotebookTracker | null): void => {
    if (!tracker) return;
    setNotebooks(notebooksOf(tracker));
    eachNotebook(tracker, panel => void lookAfter(panel));
  }
};

const asked = {
  id: 'acp-jupyter:asked',
  description: 'Opens a terminal for a log-in that runs in one; takes away the field of a question that was settled.',
  autoStart: true,
  optional: [INotebookTracker],
  activate: (app: App, tracker: INotebookTracker | null): void => {
    if (!tracker) return;
    eachNotebook(tracker, panel =>
      eachKernel(panel, kernel => {
        listen(app, kernel);
        listenForSettled(panel, kernel);
      })
    );
  }
};

const prompts = {
  id: 'acp-jupyter:prompts',
  description: 'Edits the prompt of a %%acp cell as Markdown.',
  autoStart: true,
  optional: [INotebookTracker, IEditorLanguageRegistry],
  activate: (_app: unknown, tracker: INotebookTracker | null, languages: IEditorLanguageRegistry | null): void => {
    const load = async (mimeType: string): Promise<unknown> => languages?.getLanguage(mimeType);
    if (tracker) eachNotebook(tracker, panel => void followPrompts(panel, load));
  }
};

const completion = {
  id: 'acp-jupyter:completion',
  description: 'Completes commands of the agent and names of files in %%acp cells.',
  autoStart: true,
  optional: [ICompletionProviderManager],
  activate: (app: Contents, manager: ICompletionProviderManager | null): void => manager?.registerProvider(new Completion(app))
};

export default [notebooks, asked, prompts, completion, files, commands, status, notices];
