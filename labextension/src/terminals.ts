/** The part of the labextension that opens JupyterLab's own terminal for a command that the user is to run. */

import type { Kernel, NotebookPanel } from '@jupyterlab/notebook';

const TARGET = 'acp_jupyter.terminal';

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

/** Answer a kernel that asks for a terminal, on the page where the user has run the cell. */
export function listen(app: App, kernel: Kernel): void {
  kernel.registerCommTarget(TARGET, (comm, message) => {
    const line = message.content.data['line'];
    const ours = (message.parent_header as { session?: unknown }).session === kernel.clientId;
    // a line's end would run it
    if (ours && typeof line === 'string' && !/[\0-\x1f\x7f-\x9f]/.test(line)) void open(app, line);
    comm.close();
  });
}

/** Listen to whichever kernel a notebook has. */
export function follow(app: App, { sessionContext }: NotebookPanel): void {
  const kernel = sessionContext.session?.kernel;
  if (kernel) listen(app, kernel);
  sessionContext.kernelChanged.connect((_sender, { newValue }) => newValue && listen(app, newValue));
}
