/** The part of the labextension that opens JupyterLab's own terminal for a command that the user is to run. */

import { whenAsked } from './kernels';

/** What of JupyterLab's application it takes. */
export interface App {
  commands: { execute(id: string, args: Record<string, unknown>): Promise<unknown> };
  serviceManager: {
    terminals: {
      isAvailable(): boolean;
      startNew(): Promise<{ name: string; send(message: { type: 'stdin'; content: string[] }): void }>;
    };
  };
}

/** Open a terminal with `line` typed in: it is the user who presses Enter. */
async function open(app: App, line: string): Promise<void> {
  const { terminals } = app.serviceManager;
  if (!terminals.isAvailable()) return;
  const session = await terminals.startNew();
  await app.commands.execute('terminal:open', { name: session.name });
  session.send({ type: 'stdin', content: [line] });
}

/** Answer a kernel that asks for a terminal. */
export function listen(app: App, kernel: Parameters<typeof whenAsked>[0]): void {
  whenAsked(kernel, 'terminal', ({ line }) => {
    // a line's end would run it
    if (typeof line === 'string' && !/[\0-\x1f\x7f-\x9f]/.test(line)) void open(app, line);
  });
}
