import { afterEach, describe, expect, it, vi } from 'vitest';
import css from '../src/style/permission.css?raw';
import type { Diff, Permission, ToolCall, Turn } from '../src/types';
import { $, call, click, frame, live, pass, permission, saved, turnOf } from './help';

afterEach(() => document.body.replaceChildren());

const edit = call({
  kind: 'edit',
  title: 'Edit loader.py',
  locations: [{ path: '/home/user/project/src/loader.py', line: 3 }]
});

function asking(more: Partial<Turn> = {}): Turn {
  return turnOf([edit], { state: 'waiting', permissions: { '1': permission() }, ...more });
}

function diff(old: string, text: string): Diff {
  const edits = [{ at: 0, add: 1, del: [old.slice(0, -1)], section: null, marks: [] }];
  return { type: 'diff', path: '/home/user/project/a.py', is_new: false, new_text: text, edits, added: 1, removed: 1 };
}

function options(el: Element): HTMLButtonElement[] {
  return [...el.querySelectorAll<HTMLButtonElement>('.acp-permission button[data-option-id]')];
}

function press(el: Element, key: string, more: KeyboardEventInit = {}): KeyboardEvent {
  const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more });
  el.dispatchEvent(event);
  return event;
}

describe('a request', () => {
  it('is told in our words, with the whole path, and the agent’s title as such', async () => {
    const { el } = await live(asking());
    const block = $(el, '.acp-permission');
    expect(block.textContent).toContain('Claude Code wants to edit /home/user/project/src/loader.py');
    expect(block.textContent).toContain('The agent calls it: “Edit loader.py”');
    expect(block.dataset).toMatchObject({ key: '1', state: 'open' });
    expect($(el, '.acp-tool-call').textContent).toContain('waiting for you');
  });

  it('has a button per option, in the agent’s order, with its name and our word for its kind', async () => {
    const { el } = await live(asking());
    expect(options(el).map(({ dataset }) => [dataset.optionId, dataset.kind])).toEqual([
      ['once', 'allow_once'], ['always', 'allow_always'], ['no', 'reject_once']
    ]);
    expect(options(el).map(button => button.getAttribute('aria-label'))).toEqual(['Allow once', 'Always allow', 'Reject']);
    expect(options(el)[1]?.textContent).toContain('allow · remembered by the agent');
  });

  it('a click is sent once, disables every button at once, and shows until the document says more', async () => {
    const { el, kernel } = await live(asking());
    const [first, second] = options(el);
    first?.click();
    second?.click();
    await frame();
    expect(kernel.received.slice(1)).toEqual([{ type: 'decide', key: '1', option_id: 'once' }]);
    expect(options(el).every(button => button.disabled)).toBe(true);
    expect(first?.textContent).toContain('sent…');
    kernel.ops({ op: 'merge', path: ['permissions', '1'], value: { state: 'selected', option_id: 'once', decided_by: 'you', decided_at: new Date(2026, 0, 1, 14, 2, 11).getTime() / 1000 } });
    await frame();
    expect(options(el)).toEqual([]);
    expect($(el, '.acp-permission').textContent).toBe('Allowed once by you at 14:02:11 · Allow once');
  });

  it.each([
    ['a', {}, 'once'],
    ['A', { shiftKey: true }, 'always'],
    ['r', {}, 'no']
  ])('key %s within it', async (key, more, option) => {
    const { el, kernel } = await live(asking());
    options(el)[0]?.focus();
    const event = press(options(el)[0] as Element, key, more);
    expect(event.defaultPrevented).toBe(true);
    expect(kernel.received.at(-1)).toEqual({ type: 'decide', key: '1', option_id: option });
    await frame();
    expect($(el, '.acp-permission').contains(document.activeElement)).toBe(true);
  });

  it('keys do nothing with a modifier, outside of it, or when they mean nothing', async () => {
    const { el, kernel } = await live(asking());
    press(options(el)[0] as Element, 'a', { ctrlKey: true });
    press(options(el)[0] as Element, 'R', { shiftKey: true });
    press(options(el)[0] as Element, 'x');
    press($(el, '.acp-turn'), 'a');
    press($(el, '.acp-stop'), 'a');
    press(document.body, 'a');
    expect(kernel.received).toHaveLength(1);
  });

  it('plain keys are kept from the notebook, on the focused element itself; keys with a modifier are not', async () => {
    const { el } = await live(asking());
    const button = options(el)[0] as HTMLButtonElement;
    const marked = (): boolean[] => [button, $(el, '.acp-turn')].map(node => node.hasAttribute('data-lm-suppress-shortcuts'));
    press(button, 'b');
    expect(marked()).toEqual([true, true]);
    press(button, 's', { ctrlKey: true });
    expect(marked()).toEqual([false, false]);
    press(button, 'd');
    expect(marked()).toEqual([true, true]);
  });

  it('U09, U10: shows the whole command, whatever the title or the kind says', async () => {
    const command = `echo ok${' '.repeat(5000)}; rm -rf build\n${'line\n'.repeat(200)}`;
    const raw_input = JSON.stringify({ command, cwd: '/tmp/x' });
    const { el } = await live(turnOf([call({ kind: 'execute', title: 'bash', raw_input })], { permissions: { '1': permission() } }));
    const block = $(el, '.acp-permission');
    expect($(block, 'pre').textContent).toBe(command.replace(' '.repeat(5000), '↦ 5000 spaces'));
    expect(block.textContent).toContain('wants to run this command in /tmp/x');

    const spoofed = await live(turnOf([call({ kind: 'read', raw_input })], { permissions: { '1': permission() } }));
    expect($(spoofed.el, '.acp-permission').textContent).toContain('It holds a command');
    expect($(spoofed.el, '.acp-permission pre').textContent).toContain('; rm -rf build');
  });

  it('the first way out is pushed to the end by the option before it, so that it wraps to the left', async () => {
    const style = document.createElement('style');
    style.textContent = css;
    document.body.append(style);
    const { el } = await live(asking());
    const margins = (side: string): string[] => options(el).map(button => getComputedStyle(button).getPropertyValue(`margin-inline-${side}`));
    expect(margins('end')).toEqual(['0', 'auto', '0']);
    expect(margins('start')).toEqual(['0', '0', '0']);
  });

  it('a command’s directory is told once, other places all the same', async () => {
    const raw_input = JSON.stringify({ command: 'make', cwd: '/home/user/project' });
    const locations = ['/home/user/project', '/home/user/project/Makefile'].map(path => ({ path, line: null }));
    const { el } = await live(turnOf([call({ kind: 'execute', raw_input, locations })], { permissions: { '1': permission() } }));
    expect($(el, '.acp-sentence').textContent).toBe('Claude Code wants to run this command in /home/user/project');
    expect([...el.querySelectorAll('.acp-paths li')].map(path => path.textContent)).toEqual(['/home/user/project/Makefile']);
    const alone = await live(turnOf([call({ kind: 'execute', raw_input, locations: locations.slice(0, 1) })], { permissions: { '1': permission() } }));
    expect(alone.el.querySelector('.acp-paths')).toBeNull();
  });

  it('U12: shows hidden characters in paths, titles and names of options, and warns', async () => {
    const nasty = call({ kind: 'edit', title: 'safe\u202e', locations: [{ path: '/home/user/project/a\u202eyp.x', line: null }] });
    const warnings = [{ reason: 'bidi', text: 'A path holds a right-to-left override.' }, { reason: 'fragment', text: 'a.py: a part\u202e' }];
    const one = permission({ warnings, options: [{ option_id: 'a', name: 'Al\u200blow', kind: 'allow_once' }] });
    const { el } = await live(turnOf([nasty], { permissions: { '1': one } }));
    const block = $(el, '.acp-permission');
    expect(block.textContent).toContain('/home/user/project/aU+202Eyp.x');
    expect(block.textContent).toContain('AlU+200Blow');
    const told = [...block.querySelectorAll<HTMLElement>('.acp-warning')];
    expect(told.map(one => [one.dataset.reason, one.textContent])).toEqual([['bidi', 'A path holds a right-to-left override.'], ['fragment', 'a.py: a partU+202E']]);
    expect(el.textContent).not.toMatch(/[\u202e\u200b]/);
  });

  it('takes no answer while its files are looked at, and rests once more when that is told', async () => {
    const { el, kernel } = await live(asking({ permissions: { '1': permission({ checking: true }) } }));
    await click(options(el)[0] as Element);
    press(options(el)[0] as Element, 'a');
    expect(options(el)[0]?.getAttribute('aria-disabled')).toBe('true');
    kernel.ops({ op: 'merge', path: ['permissions', '1'], value: { checking: false, warnings: [{ reason: 'mismatch', text: 'a.py is another' }] } });
    await frame();
    expect($(el, '.acp-warning[data-reason=mismatch]').textContent).toBe('a.py is another');
    await click(options(el)[0] as Element);
    expect(kernel.received).toHaveLength(1);
    pass(400);
    await click(options(el)[0] as Element);
    expect(kernel.received.at(-1)).toEqual({ type: 'decide', key: '1', option_id: 'once' });
  });

  it('where nothing is told, the raw input is shown', async () => {
    const { el } = await live(turnOf([call({ kind: 'deploy', raw_input: '{"target":"prod"}' })], { permissions: { '1': permission() } }));
    expect($(el, '.acp-permission').textContent).toContain('of a kind that we do not know, “deploy”');
    expect($(el, '.acp-permission pre').textContent).toBe('{"target":"prod"}');
    const bare = await live(turnOf([call()], { permissions: { '1': permission() } }));
    expect($(bare.el, '.acp-permission').textContent).toContain('It sent no details.');
  });

  it('U03, U05, U06: three of a kind stay three; without a no there is one of ours; an unknown kind is neutral', async () => {
    const three = permission({ options: ['A', 'B', 'C'].map(name => ({ option_id: name, name, kind: 'allow_once' })) });
    const { el } = await live(asking({ permissions: { '1': three } }));
    expect(options(el).map(button => button.dataset.optionId)).toEqual(['A', 'B', 'C']);
    expect(el.querySelectorAll('kbd')).toHaveLength(1);
    const none = await live(asking({ permissions: { '1': permission({ options: [] }) } }));
    const [no] = none.el.querySelectorAll<HTMLButtonElement>('.acp-option');
    expect(no?.textContent).toBe('None of theseanswers that it was cancelled');
    await click(no as Element);
    expect(none.kernel.received.at(-1)).toEqual({ type: 'decide', key: '1', option_id: null });
    await frame();
    expect(no?.textContent).toBe('None of thesesent…');
    const nameless = await live(asking({ permissions: { '1': permission({ options: [{ option_id: '', name: '', kind: 'allow_once' }] }) } }));
    expect(options(nameless.el)[0]?.textContent).toContain('(no name)');
    const odd = await live(asking({ permissions: { '1': permission({ options: [{ option_id: 'x', name: '', kind: 'allow_persistent' }] }) } }));
    expect(options(odd.el)[0]?.textContent).toContain('unknown kind: allow_persistent');
    expect(options(odd.el)[0]?.getAttribute('aria-label')).toBe('x');
  });

  it('U07: of two options with one id only the safest is offered', async () => {
    const twice = permission({ options: [{ option_id: 'a', name: 'Always', kind: 'allow_always', left_out: true }, { option_id: 'a', name: 'Once', kind: 'allow_once' }, { option_id: 'n', name: 'No', kind: 'reject_once' }] });
    const { el } = await live(asking({ permissions: { '1': twice } }));
    expect(options(el).map(button => button.getAttribute('aria-label'))).toEqual(['Once', 'No']);
  });

  it('several are counted in the head, and “next” goes to each', async () => {
    const permissions = { '20': permission({ key: '20', opened_at: 1 }), '3': permission({ key: '3', opened_at: 2 }) };
    Element.prototype.scrollIntoView = () => undefined;
    const { el } = await live(asking({ permissions }));
    expect($(el, '.acp-queue').textContent).toContain('1 of 2');
    const focused: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      await click($(el, '.acp-next'));
      focused.push((document.activeElement as HTMLElement).dataset.key);
    }
    expect(focused).toEqual(['20', '3', '20']);
  });

  it('two requests of one call are answered apart', async () => {
    const { el, kernel } = await live(asking({ permissions: { '11': permission({ key: '11' }), '12': permission({ key: '12' }) } }));
    const blocks = [...el.querySelectorAll('.acp-permission')];
    await click($(blocks[1] as Element, '[data-option-id=no]'));
    expect(kernel.received.at(-1)).toEqual({ type: 'decide', key: '12', option_id: 'no' });
    expect(options(blocks[0] as Element).every(button => !button.disabled)).toBe(true);
  });

  it('about a call that the timeline does not hold is asked all the same', async () => {
    const { el, kernel } = await live(turnOf([], { permissions: { '1': permission({ tool_call_id: 'gone' }) } }));
    await click($(el, '[data-option-id=once]'));
    expect(kernel.received.at(-1)).toMatchObject({ type: 'decide' });
  });

  it.each([
    [{ state: 'selected', option_id: 'no', decided_by: 'policy', reason: 'policy reject' }, 'Rejected once by policy · Reject · policy reject'],
    [{ state: 'selected', option_id: 'no', decided_by: 'nobody', reason: null }, 'Rejected once, since nobody could be asked · Reject'],
    [{ state: 'selected', option_id: 'always', decided_by: 'you', reason: null }, 'Allowed, and remembered by the agent, by you · Always allow'],
    [{ state: 'selected', option_id: 'no', decided_by: 'time_limit', reason: 'no answer within 60 s' }, 'Rejected once by the time limit · Reject · no answer within 60 s'],
    [{ state: 'cancelled', option_id: null, decided_by: 'time_limit', reason: null }, 'Not answered in time'],
    [{ state: 'cancelled', option_id: null, decided_by: 'turn', reason: null }, 'Not answered: the turn ended first'],
    [{ state: 'cancelled', option_id: null, decided_by: 'agent', reason: null }, 'Withdrawn by the agent']
  ])('decided: %j', (decision, words) => {
    const el = saved(asking({ permissions: { '1': permission(decision) } }));
    expect($(el, '.acp-permission').textContent).toBe(words);
    expect($(el, '.acp-permission').querySelector('button')).toBeNull();
  });

  it('that has just appeared rests: neither a click nor a key aimed at something else hits it', async () => {
    const { el, kernel } = await live(asking(), { young: true });
    const [first] = options(el);
    expect(first?.disabled).toBe(false);
    expect(first?.getAttribute('aria-disabled')).toBe('true');
    pass(399);
    await click(first as Element);
    press(first as Element, 'a');
    expect(kernel.received).toHaveLength(1);
    kernel.ops({ op: 'merge', path: ['permissions', '2'], value: { ...permission({ key: '2' }) } });
    await frame();
    pass(1);
    const [old, young] = [...el.querySelectorAll('.acp-permission')];
    await click($(young as Element, '[data-option-id=once]'));
    expect(kernel.received).toHaveLength(1);
    await click($(old as Element, '[data-option-id=once]'));
    expect(kernel.received.at(-1)).toEqual({ type: 'decide', key: '1', option_id: 'once' });
    pass(399);
    press(young as Element, 'r');
    expect(kernel.received.at(-1)).toEqual({ type: 'decide', key: '2', option_id: 'no' });
  });

  it('says so until it has rested', async () => {
    const { el } = await live(asking());
    await vi.waitFor(() => expect(options(el).map(button => button.getAttribute('aria-disabled'))).toEqual([null, null, null]));
  });

  it.each<[string, Partial<ToolCall>]>([
    ['arguments that are no list', { raw_input: '{"command":"git","args":"push --force; rm -rf ~"}' }],
    ['two commands', { raw_input: '{"command":"ls","cmd":"rm -rf /","env":{"A":{"B":"1"}}}' }],
    ['a script of an edit', { kind: 'edit', locations: edit.locations, raw_input: '{"script":"rm -rf ~"}' }],
    ['words that are no text', { raw_input: '{"command":["sh",{"a":1}]}' }],
    ['a directory that no sentence names', { kind: 'read', raw_input: '{"command":"ls","cwd":"/etc"}' }],
    ['a path that is not told', { kind: 'edit', locations: edit.locations, raw_input: '{"file_path":"/etc/passwd"}' }],
    ['a text that the diff does not hold', { kind: 'edit', content: [diff('a\n', 'b\n')], raw_input: '{"new_string":"c\\n"}' }],
    ['a list', { raw_input: '["ls"]' }]
  ])('raw input that says more is shown whole, without opening anything: %s', async (_, more) => {
    const { el } = await live(turnOf([call({ kind: 'execute', ...more })], { permissions: { '1': permission() } }));
    expect($(el, '.acp-permission .acp-raw-input').textContent).toBe(more.raw_input);
    expect($(el, '.acp-permission').textContent).toContain('raw input:');
  });

  it.each<[string, Partial<ToolCall>]>([
    ['a command and its directory', { raw_input: '{"command":"git","args":["push"],"cwd":"/tmp"}' }],
    ['a command as a list, and its title', { raw_input: '{"command":["git","push"],"description":"Push"}', title: 'Push' }],
    ['an edit', { kind: 'edit', content: [diff('a\n', 'b\n')], raw_input: '{"file_path":"/home/user/project/a.py","old_string":"a\\n","new_string":"b\\n"}' }]
  ])('raw input that is told already is not repeated: %s', async (_, more) => {
    const { el } = await live(turnOf([call({ kind: 'execute', ...more })], { permissions: { '1': permission() } }));
    expect(el.querySelector('.acp-permission .acp-raw-input')).toBeNull();
  });

  it('in a saved card nothing can be clicked', () => {
    const el = saved(asking());
    expect(el.querySelector('button[data-option-id], .acp-stop')).toBeNull();
    expect($(el, '.acp-permission').textContent).toContain('It was waiting for an answer when this was saved. It offered: “Allow once” (allow · once), “Always allow” (allow · remembered by the agent), “Reject” (reject · once).');
    expect($(el, '.acp-state').textContent).toBe('not finished when this was saved');
  });

  it('that is asked by text is not said to have been left', () => {
    const el = saved(asking({ by_text: true }));
    expect($(el, '.acp-permission').textContent).toContain('It is asked for by text, below, or was when this was saved. It offered: “Allow once” (allow · once)');
  });

  it('warnings stand on a decided one too; what an unknown kind is called is said', () => {
    const odd = permission({ state: 'selected', option_id: 'x', decided_by: 'you', options: [{ option_id: 'x', name: 'Yes', kind: 'forever' }], warnings: [{ reason: 'padding', text: 'The command holds a run of 214 spaces.' }] });
    const el = saved(asking({ permissions: { '1': odd } }));
    expect($(el, '.acp-decision').textContent).toBe('Answered by you · Yes (unknown kind: forever)');
    expect($(el, '.acp-warning[data-reason=padding]').textContent).toBe('The command holds a run of 214 spaces.');
  });

  it('a document from before there were warnings is drawn all the same', () => {
    const { warnings, checking, ...old } = permission();
    expect([warnings, checking]).toEqual([[], false]);
    const el = saved({ ...asking(), permissions: { '1': old } });
    expect($(el, '.acp-permission').textContent).toContain('“Allow once”');
    expect(el.querySelector('.acp-warning, .acp-notice')).toBeNull();
  });

  it('an agent that changes its own mode is warned of', () => {
    const oversight = 'You may be asked less.';
    const items: Turn['items'] = [{ type: 'mode', id: 'y', name: 'YOLO', by: 'agent', oversight }, { type: 'mode', id: 'a', name: 'Ask', by: 'you' }];
    const el = saved(asking({ items }));
    expect([...el.querySelectorAll<HTMLElement>('.acp-mode-change .acp-warning')].map(one => [one.dataset.reason, one.textContent])).toEqual([['oversight', oversight]]);
  });

  it('a saved card says where nothing was offered', () => {
    const el = saved(asking({ permissions: { '1': permission({ options: [] }) } }));
    expect($(el, '.acp-permission').textContent).toContain('when this was saved. It offered nothing to choose.');
  });
});

describe('a call that changes while it is asked about, or later', () => {
  const ls = call({ kind: 'execute', title: 'List', raw_input: '{"command":"ls"}' });
  const CHANGED = 'The agent has changed this call since it asked; this is what it asked for.';
  const changed = (text: string): Permission['warnings'] => [{ reason: 'changed', text }];
  const rm = call({ kind: 'execute', title: 'Clean', raw_input: '{"command":"rm -rf /"}' });
  const decided = { state: 'selected', option_id: 'once', decided_by: 'you' };

  it('each of two requests shows what it asked', async () => {
    const permissions = { '1': permission({ asked: ls, opened_at: 1, warnings: changed(CHANGED) }), '2': permission({ key: '2', opened_at: 2 }) };
    const { el } = await live(turnOf([rm], { state: 'waiting', permissions }));
    const [first, second] = [...el.querySelectorAll('.acp-permission')] as [Element, Element];
    expect($(first, 'pre').textContent).toBe('ls');
    expect(first.textContent).toContain('The agent calls it: “List”');
    expect(first.textContent).not.toMatch(/rm|Clean/);
    expect($(first, '.acp-warning[data-reason=changed]').textContent).toBe(CHANGED);
    expect($(second, 'pre').textContent).toBe('rm -rf /');
    expect(second.querySelector('.acp-warning')).toBeNull();
  });

  it('an open request goes on showing what it asked, its diff too', async () => {
    const before = call({ kind: 'edit', content: [diff('a\n', 'b\n')] });
    const { el, kernel } = await live(turnOf([before], { state: 'waiting', permissions: { '1': permission() } }));
    expect($(el, '.acp-permission').querySelector('.acp-diff')).toBeNull();
    kernel.ops(
      { op: 'merge', path: ['tool_calls', 't1'], value: { content: [] } },
      { op: 'merge', path: ['permissions', '1'], value: { asked: before } }
    );
    await frame();
    expect($(el, '.acp-permission .acp-diff').textContent).toContain('b');
    expect($(el, '.acp-permission .acp-sentence').textContent).toContain('edit /home/user/project/a.py');
    await click($(el, '.acp-permission [data-option-id=once]'));
    expect(kernel.received.at(-1)).toMatchObject({ type: 'decide', key: '1' });
  });

  it.each([
    [decided, 'this is what was allowed.'],
    [{ ...decided, option_id: 'no' }, 'this is what was rejected.'],
    [{ ...decided, option_id: null, state: 'cancelled' }, 'this is what was asked.']
  ])('a decided one shows what it was about: %j', (decision, words) => {
    const el = saved(turnOf([rm], { permissions: { '1': permission({ ...decision, asked: ls, warnings: changed(words) }) } }));
    expect($(el, '.acp-permission .acp-warning[data-reason=changed]').textContent).toBe(words);
    expect($(el, '.acp-permission').textContent).toContain('wanted to');
    expect($(el, '.acp-permission pre').textContent).toBe('ls');
  });

  it('an approved diff stays where other content takes its place', () => {
    const asked = call({ kind: 'edit', content: [diff('a\n', 'b\n')] });
    const el = saved(turnOf([call({ kind: 'edit' })], { permissions: { '1': permission({ ...decided, asked, warnings: changed('changed') }) } }));
    expect($(el, '.acp-permission .acp-diff').textContent).toContain('b');
  });

  it('results in place of a description are no change; the description stays at hand', async () => {
    const told = (text: string): ToolCall => call({ kind: 'execute', raw_input: '{"command":"ls"}', content: [{ type: 'content', block: { type: 'text', text } }] });
    const permissions = { '1': permission({ ...decided, asked: told('Lists files') }) };
    const { el } = await live(turnOf([told('a.py')], { permissions }));
    expect(el.querySelector('.acp-warning')).toBeNull();
    await click($(el, '.acp-permission .acp-fold-button'));
    expect($(el, '.acp-permission').textContent).toContain('Lists files');
  });
});
