/** The part of the labextension that writes a finished turn into a notebook whose page was reloaded in mid-turn. */

import { INotebookTracker, type Outputs } from '@jupyterlab/notebook';
import { setNotebooks, type Notebooks } from './page';
import { MIME } from './types';

const WIDGET_MIME = 'application/vnd.jupyter.widget-view+json';

interface Place {
  outputs: Outputs;
  index: number;
}

/** Look into the open notebooks of `tracker`. */
export function notebooksOf(tracker: INotebookTracker): Notebooks {
  const find = (turnId: string): Place[] => {
    const places: Place[] = [];
    tracker.forEach(({ content: { model } }) => {
      for (let at = 0; at < (model?.cells.length ?? 0); at++) {
        const outputs = model?.cells.get(at).outputs;
        for (let index = 0; outputs && index < outputs.length; index++) {
          const { data } = outputs.get(index);
          const turn = data[MIME] as { turn_id?: unknown } | undefined;
          if (WIDGET_MIME in data && turn?.turn_id === turnId) places.push({ outputs, index });
        }
      }
    });
    return places;
  };
  return {
    hold: turnId => find(turnId).length > 0,
    write: (turnId, data) => {
      for (const { outputs, index } of find(turnId)) outputs.set(index, { output_type: 'display_data', data, metadata: {} });
    }
  };
}

export default {
  id: 'acp-jupyter:notebooks',
  description: 'Writes a finished turn into a notebook whose page was reloaded while it ran.',
  autoStart: true,
  optional: [INotebookTracker],
  activate: (_app: unknown, tracker: INotebookTracker | null): void => {
    if (tracker) setNotebooks(notebooksOf(tracker));
  }
};
