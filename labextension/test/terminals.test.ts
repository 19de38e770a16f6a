import { describe, expect, it, vi } from 'vitest';
import { listen, type App } from '../src/terminals';

type Callback = Parameters<Parameters<typeof listen>[1]['registerCommTarget']>[1];

/** A page whose kernel asks for a terminal: what the page did. */
async function asked(line: unknown, session = 'this page', isAvailable = true) {
  const [send, execute, close] = [vi.fn(), vi.fn(async () => undefined), vi.fn()];
  const startNew = vi.fn(async () => ({ name: '1', send }));
  const app: App = { commands: { execute }, serviceManager: { terminals: { isAvailable: () => isAvailable, startNew } } };
  let callback: Callback | undefined;
  listen(app, { clientId: 'this page', registerCommTarget: (_name, given) => (callback = given) });
  callback?.({ close }, { content: { data: { line } }, parent_header: { session } });
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
  await new Promise(resolve => setTimeout(resolve));
  return { send, execute, startNew };
}

describe('a kernel that asks for a terminal', () => {
  it('gets one with the line typed in, and nobody presses Enter', async () => {
    const { send, execute } = await asked('agent --login');
    expect(execute).toHaveBeenCalledWith('terminal:open', { name: '1' });
    expect(send.mock.calls).toEqual([[{ type: 'stdin', content: ['agent --login'] }]]);
  });

  it.each([
    ['agent\rrm -rf .', 'this page', true],
    ['agent\nrm', 'this page', true],
    ['agent\u001b[', 'this page', true],
    [42, 'this page', true],
    ['agent --login', 'another page', true],
    ['agent --login', 'this page', false]
  ])('gets none for %j of %s, with terminals: %s', async (line, session, available) => {
    expect((await asked(line, session, available)).startNew).not.toHaveBeenCalled();
  });
});
