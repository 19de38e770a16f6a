import { afterEach, describe, expect, it } from 'vitest';
import type { Diff, Turn } from '../src/types';
import { $, call, click, frame, live, permission, saved, terminal, turn, turnOf } from './help';

afterEach(() => document.body.replaceChildren());

const PATH = '/home/user/project/src/a.py';

function diff(more: Partial<Diff> = {}): Diff {
  return { type: 'diff', path: PATH, is_new: false, new_text: 'a\nnew\nc\n', edits: [{ at: 1, add: 1, del: ['old'], section: 'def f():', marks: [['+', 0, 1, 3]] }], added: 1, removed: 1, ...more };
}

function head(el: Element): string {
  return ($(el, '.acp-tool-head').textContent ?? '').replace(/\s+/g, ' ');
}

describe('the head', () => {
  it.each<[Partial<Turn>, string]>([
    [{ state: 'done', stop_reason: 'end_turn', ended_at: 1042 }, 'done · 42 s'],
    [{ state: 'done', stop_reason: 'max_tokens', ended_at: 1042 }, 'done · the token limit was reached · 42 s'],
    [{ state: 'done', stop_reason: 'odd', ended_at: 1042 }, 'done · stop reason “odd” · 42 s'],
    [{ state: 'failed', ended_at: 1018, error: { type: 'AgentExited', message: 'the agent exited with code 7', advice: 'Run it again.', stderr: '\u001b[31merror:\u001b[0m no key\n' } }, 'stopped: the agent exited with code 7 · 18 s'],
    [{ state: 'failed', error: { type: 'AgentNotFound', message: '`claude` is not on PATH', advice: '', stderr: '' } }, 'not started: `claude` is not on PATH']
  ])('%j', (more, words) => {
    expect($(saved(turn(more)), '.acp-state').textContent).toBe(words);
  });

  it('shows agent, mode, model, directory, title, usage and cost', () => {
    const el = saved(turn({
      mode: { id: 'plan', name: 'Plan' }, title: 'Make it fast', usage: { used: 76_000, size: 200_000, cost: { amount: 0.12, currency: 'USD' } },
      options: [{ id: 'm', name: 'Model', category: 'model', value: 'Sonnet' }], additional_directories: ['/data'], policy: 'edits'
    }));
    expect($(el, '.acp-header').textContent).toMatch(/Claude Code.*Plan.*Sonnet.*76k \/ 200k · \$0.12/);
    expect($(el, '.acp-subheader').textContent).toBe('Make it fast/home/user/project+ /datapolicy: edits');
    expect(el.querySelector('.acp-loud')).toBeNull();
    expect($(el, '.acp-footer').textContent).toBe('turn 3');
  });

  it('once the turn has ended its cost stands in the foot alone', () => {
    const usage = { used: 76_000, size: 200_000, cost: { amount: 0.12, currency: 'USD' } };
    const el = saved(turn({ state: 'done', stop_reason: 'end_turn', ended_at: 1042, usage }));
    expect($(el, '.acp-usage').textContent).toBe('76k / 200k');
    expect($(el, '.acp-footer').textContent).toBe('turn 3 · $0.12');
  });

  it('is loud where nobody is asked', () => {
    expect($(saved(turn({ policy: 'allow-once-all' })), '.acp-loud').textContent).toBe('every request is allowed without asking: allow-once-all');
  });

  it('tells an error with the agent’s last words and advice', () => {
    const el = saved(turn({ state: 'failed', error: { type: 'x', message: 'it died', advice: 'Try `%acp status`.', stderr: '\u001b[31merror:\u001b[0m no key\n' } }));
    expect($(el, '.acp-error').textContent).toBe('stopped: it diedlast lines of its error outputerror: no keyTry %acp status.');
  });

  it('an empty turn says so; notes are told', () => {
    expect(saved(turn({ state: 'done', stop_reason: 'end_turn' })).textContent).toContain('The agent returned nothing.');
    expect($(saved(turn({ notes: [{ severity: 'warning', text: 'a new process' }] })), '.acp-notice[data-severity=warning]').textContent).toBe('a new process');
  });
});

describe('a tool call', () => {
  it.each([
    [call({ kind: 'read', title: 'Read src/a.py', status: 'completed', ended_at: 1000.2, locations: [{ path: PATH, line: 12 }] }), 'Readsrc/a.py:120.2 s'],
    [call({ kind: 'read', title: 'Look for the bug', locations: [{ path: PATH, line: null }] }), 'Readsrc/a.py“Look for the bug”pending'],
    [call({ kind: 'execute', title: 'Tests', raw_input: '{"command":["pytest","-q"]}', name: 'bash', status: 'completed', ended_at: 1003 }), 'Runpytest -q“Tests”bashwithout askingRaw input3.0 s'],
    [call({ kind: 'fetch', raw_input: '{"url":"https://x.org/a"}', status: 'in_progress' }), 'Fetchhttps://x.org/aRaw inputrunning'],
    [call({ kind: 'deploy', title: 'Ship it', status: 'paused' }), 'Tool“Ship it”deploypaused'],
    [call({ kind: 'think', local_status: 'cancelled', status: 'in_progress' }), 'Thinkcancelled'],
    [call({ kind: 'search', local_status: 'cut_off' }), 'Searchcut off'],
    [call({ kind: 'delete', status: 'failed', ended_at: 1003.1, locations: [{ path: '/etc/hosts', line: null }] }), 'Delete/etc/hostsoutside the session’s directorieswithout askingfailed · 3.1 s']
  ])('head of %#', (one, words) => {
    const el = saved(turnOf([one]));
    expect(head(el)).toBe(words);
  });

  it('hooks: kind, shown status, id', () => {
    const el = saved(turnOf([call({ kind: 'read', status: 'in_progress', local_status: 'cut_off' })]));
    expect($(el, '.acp-tool-call').dataset).toMatchObject({ kind: 'read', status: 'cut_off', toolCallId: 't1' });
  });

  it('a long command stands in a block, whole', () => {
    const command = `python -c "${'x'.repeat(300)}"`;
    const el = saved(turnOf([call({ kind: 'execute', raw_input: JSON.stringify({ command }) })]));
    expect($(el, '.acp-command').textContent).toBe(command);
    expect(head(el)).toContain('Run a command');
  });

  it('exit code and output of its terminal', () => {
    const one = call({ kind: 'execute', status: 'completed', ended_at: 1003.1, content: [{ type: 'terminal', terminal_id: 'x1' }] });
    const el = saved(turnOf([one], { terminals: { x1: terminal({ output: '\u001b[31mFAILED\u001b[0m a\n10%\r100%\n', exit_code: 1 }) } }));
    expect(head(el)).toContain('exit 1 · 3.1 s');
    expect($(el, '.acp-status').dataset.tone).toBe('bad');
    expect([...el.querySelectorAll('.acp-terminal-line')].map(line => line.textContent)).toEqual(['FAILED a', '100%']);
    expect($(el, '.acp-terminal-exit').textContent).toBe('exit 1');
    expect($(el, '.acp-terminal span[style]').style.color).toBe('var(--acp-ansi-1)');
  });

  it.each([
    ['no request', [], '20 s'],
    ['allowed', [{ option_id: 'once', decided_at: 1017 }], '3.0 s'],
    ['allowed twice, counted from the last answer', [{ option_id: 'once', decided_at: 1002 }, { option_id: 'always', decided_at: 1018 }], '2.0 s'],
    ['decided before it began', [{ option_id: 'once', decided_at: 999 }], '20 s'],
    ['rejected', [{ option_id: 'no', decided_at: 1017 }], ''],
    ['allowed, then rejected', [{ option_id: 'once', decided_at: 1002 }, { option_id: 'no', decided_at: 1018 }], ''],
    ['not answered', [{ state: 'cancelled', decided_at: 1017 }], '']
  ])('how long it took leaves out a person’s time to think: %s', (_, decided, words) => {
    const permissions = decided.map((more, index) => permission({ key: String(index), state: 'selected', decided_by: 'you', opened_at: 1001 + index, ...more }));
    const one = call({ kind: 'edit', status: 'completed', ended_at: 1020 });
    const el = saved(turnOf([one], { permissions: Object.fromEntries(permissions.map(each => [each.key, each])) }));
    expect($(el, '.acp-status').textContent).toBe(words);
  });

  it('text is folded by the lines that a reader will see', () => {
    const lines = Array.from({ length: 16 }, (_, index) => `line ${index}`).join('\n');
    const label = (text: string): string => $(saved(turnOf([call({ content: [{ type: 'content', block: { type: 'text', text } }] })])), '.acp-fold-button').textContent ?? '';
    expect([lines, `\`\`\`console\n${lines}\n\`\`\`\n`, `${lines}\n\`\`\`\n`].map(label)).toEqual(['16 lines of text', '16 lines of text', '17 lines of text']);
  });

  it('marks what ran without a question; the foot counts files and those', () => {
    const edit = (id: string, path: string) => call({ tool_call_id: id, kind: 'edit', status: 'completed', content: [diff({ path })] });
    const decided = (tool_call_id: string, option_id: string, decided_by: string) => permission({ key: tool_call_id, tool_call_id, state: 'selected', option_id, decided_by });
    const failed = (id: string) => ({ ...edit(id, '/x'), status: 'failed' });
    const el = saved(turnOf([edit('1', PATH), edit('2', PATH), edit('3', '/home/user/project/b.py'), failed('4'), failed('5'), edit('6', PATH), failed('7')], {
      permissions: { a: decided('1', 'once', 'you'), b: decided('4', 'no', 'nobody'), c: decided('5', 'no', 'policy'), d: decided('6', 'once', 'policy') }
    }));
    expect($(el, '.acp-footer').textContent).toBe('2 files changed+4 −43 calls without askingturn 3');
    expect([...el.querySelectorAll('.acp-tool-call')].map(one => (one.textContent ?? '').includes('without asking'))).toEqual([false, true, true, false, false, false, true]);
    const unmarked = [call({ kind: 'edit', status: 'pending' }), call({ tool_call_id: 't2', kind: 'read', status: 'completed' })];
    expect(saved(turnOf(unmarked)).textContent).not.toContain('without asking');
  });

  it('raw values as tabs, closed at first, by mouse and keyboard', async () => {
    const calls = [call({ tool_call_id: '10' }), call({ tool_call_id: '9', raw_input: '{"id":12345678901234567890123,"n":{"a":[1]}}', raw_output: 'false' })];
    const el = saved(turnOf(calls));
    const [input, output] = [...el.querySelectorAll<HTMLElement>('.acp-raw [role=tab]')] as [HTMLElement, HTMLElement];
    expect([input.textContent, output.textContent]).toEqual(['Raw input', 'Raw output']);
    expect(el.querySelector('[role=tabpanel]')).toBeNull();
    await click(input);
    expect($(el, '[role=tabpanel]').textContent).toContain('"id": 12345678901234567890123');
    expect($(el, '.acp-expression').textContent).toBe('turn.tool_calls[1].raw_input');
    expect(input.getAttribute('aria-selected')).toBe('true');
    input.focus();
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    expect(document.activeElement).toBe(output);
    await click(output);
    expect($(el, '[role=tabpanel] .acp-json').textContent).toBe('false');
    await click(output);
    expect(el.querySelector('[role=tabpanel]')).toBeNull();
  });

  it('the tree opens branch by branch, and a long string is whole on demand', async () => {
    const el = saved(turnOf([call({ raw_input: JSON.stringify({ deep: { key: 'x'.repeat(5000) } }) })]));
    await click($(el, '[role=tab]'));
    expect($(el, '.acp-json').textContent).toContain('"deep": {1}');
    await click($(el, '.acp-json-toggle[aria-expanded=false]'));
    expect($(el, '.acp-json').textContent).not.toContain('x'.repeat(5000));
    await click($(el, '.acp-json .acp-more'));
    expect($(el, '.acp-json').textContent).toContain('x'.repeat(5000));
  });

  it('unreadable raw text is shown as it is', async () => {
    const el = saved(turnOf([call({ raw_output: '{broken <b>' })]));
    await click($(el, '[role=tab]'));
    expect($(el, '.acp-json').textContent).toBe('{broken <b>');
  });
});

describe('a diff', () => {
  it('is a table with marks, numbers and a hunk’s head', () => {
    const el = saved(turnOf([call({ kind: 'edit', content: [diff()] })]));
    const rows = [...el.querySelectorAll('.acp-diff tr')].map(row => row.textContent);
    expect(rows).toEqual(['@@ −1,3 +1,3 @@ def f():', '11a', '2−old', '2+new', '33c']);
    expect($(el, '.acp-diff mark').textContent).toBe('ew');
    expect(head(el)).toContain('Editsrc/a.py+1 −1');
  });

  it('D07 shows what could not be seen', () => {
    const el = saved(turnOf([call({ content: [diff({ new_text: 'x\u202ey \t', edits: [{ at: 0, add: 1, del: ['x'], section: null, marks: [] }] })] })]));
    expect($(el, '.acp-add .acp-line').textContent).toBe('xU+202Ey·→');
    expect($(el, '.acp-no-eol').textContent).toBe('no newline at end of file');
  });

  it('marks count code points', () => {
    const el = saved(turnOf([call({ content: [diff({ new_text: '👩👩new', edits: [{ at: 0, add: 1, del: ['x'], section: null, marks: [['+', 0, 2, 5]] }] })] })]));
    expect($(el, 'mark').textContent).toBe('new');
  });

  it('unfolds unchanged lines', async () => {
    const lines = Array.from({ length: 50 }, (_, i) => `line ${i + 1}`);
    const el = saved(turnOf([call({ content: [diff({ new_text: lines.join('\n'), edits: [{ at: 45, add: 1, del: ['old'], section: null, marks: [] }] })] })]));
    // three before, three after, and the last one, which alone is not worth a fold
    expect(el.querySelectorAll('.acp-same .acp-line')).toHaveLength(7);
    expect($(el, '.acp-unfold').textContent).toContain('42 unchanged lines');
    await click($(el, '.acp-unfold'));
    expect(el.querySelectorAll('.acp-same .acp-line')).toHaveLength(49);
  });

  it('D03 D04 a big one is drawn in parts, each line whole on demand', async () => {
    const text = Array.from({ length: 50_000 }, (_, i) => (i === 0 ? 'y'.repeat(100_000) : `line ${i}`)).join('\n');
    const el = saved(turnOf([call({ content: [diff({ is_new: true, new_text: text, edits: [{ at: 0, add: 50_000, del: [''], section: null, marks: [] }] })] })]));
    expect(el.querySelectorAll('.acp-add').length).toBeLessThan(310);
    await click($(el, '.acp-more-rows'));
    expect(el.querySelectorAll('.acp-add').length).toBeGreaterThan(1200);
    await click($(el, '.acp-line .acp-more'));
    expect($(el, '.acp-line').textContent).toHaveLength(100_000);
  });

  it('of a long line shows the part that changed', () => {
    const line = `${'a'.repeat(5000)}CHANGED${'b'.repeat(5000)}`;
    const el = saved(turnOf([call({ content: [diff({ new_text: line, edits: [{ at: 0, add: 1, del: ['x'], section: null, marks: [['+', 0, 5000, 5007]] }] })] })]));
    expect($(el, 'mark').textContent).toBe('CHANGED');
  });

  it('several, a new one, and none at all', () => {
    const el = saved(turnOf([call({ content: [diff(), diff({ path: '/home/user/project/new.py', is_new: true, new_text: '', edits: [] })] })]));
    expect([...el.querySelectorAll('.acp-diff-head')].map(one => one.textContent)).toEqual([`${PATH}+1 −1`, '/home/user/project/new.py+1 −1new file']);
    expect(el.textContent).toContain('an empty file');
    expect(saved(turnOf([call({ content: [diff({ edits: [] })] })])).textContent).toContain('no change in the text');
  });
});

describe('a terminal', () => {
  it('of ten thousand lines shows the last, and all on demand', async () => {
    const output = Array.from({ length: 10_000 }, (_, i) => `line ${i}\n`).join('');
    const el = (await live(turn({ items: [{ type: 'terminal', terminal_id: 'x1' }], terminals: { x1: terminal({ output }) } }))).el;
    expect(el.querySelectorAll('.acp-terminal-line')).toHaveLength(2000);
    expect($(el, '.acp-terminal').textContent).toContain('line 9999');
    await click($(el, '.acp-terminal .acp-more'));
    expect(el.querySelectorAll('.acp-terminal-line')).toHaveLength(10_000);
  });

  it('alone is drawn with its command, and not where a call shows it', () => {
    const items = [{ type: 'terminal', terminal_id: 'x1' }] as const;
    const terminals = { x1: terminal({ signal: 'SIGKILL', truncated: true, output: 'x' }) };
    const el = saved(turn({ items: [...items], terminals }));
    expect($(el, '.acp-lone-terminal').textContent).toBe('pytestthe beginning of the output was droppedxkilled by SIGKILL');
    const calls = { t1: call({ content: [{ type: 'terminal', terminal_id: 'x1' }] }) };
    const embedded = saved(turn({ items: [...items, { type: 'tool_call', tool_call_id: 't1' }], terminals, tool_calls: calls }));
    expect(embedded.querySelectorAll('.acp-terminal')).toHaveLength(1);
    expect(embedded.querySelector('.acp-lone-terminal')).toBeNull();
  });

  it('that went well is folded in a saved turn, not in a live one', async () => {
    const doc = (): Turn => turn({ ended_at: 2, state: 'done', items: [{ type: 'terminal', terminal_id: 'x1' }], terminals: { x1: terminal({ output: 'l\n'.repeat(14), exit_code: 0 }) } });
    const el = saved(doc());
    expect($(el, '.acp-terminal .acp-fold-button').textContent).toBe('14 lines of output');
    await click($(el, '.acp-terminal .acp-fold-button'));
    expect(el.querySelectorAll('.acp-terminal-line')).toHaveLength(14);
    const { el: running } = await live({ ...doc(), ended_at: null, state: 'running' });
    expect(running.querySelectorAll('.acp-terminal-line')).toHaveLength(14);
  });
});

describe('the timeline', () => {
  it('thoughts are folded, with how long they took', async () => {
    const el = saved(turn({ items: [{ type: 'thought', message_id: null, text: 'hm **so**', started_at: 1, ended_at: 5 }] }));
    expect($(el, '.acp-thought').textContent).toBe('Thought for 4 s');
    await click($(el, '.acp-thought button'));
    expect($(el, '.acp-thought strong').textContent).toBe('so');
    const { el: thinking } = await live(turn({ items: [{ type: 'thought', message_id: null, text: 'hm', started_at: 1, ended_at: null }] }));
    expect($(thinking, '.acp-thought').textContent).toBe('Thinking…');
  });

  it('a plan, its steps by status', async () => {
    const entries = ['completed', 'in_progress', 'pending'].map(status => ({ content: `step ${status}`, priority: 'medium', status }));
    const { el, kernel } = await live(turn({ items: [{ type: 'plan', plan_id: 'p' }], plans: { p: { entries } } }));
    expect([...el.querySelectorAll('.acp-plan li')].map(one => one.getAttribute('data-status'))).toEqual(['completed', 'in_progress', 'pending']);
    kernel.ops({ op: 'merge', path: ['plans', 'p'], value: { entries: entries.slice(0, 1) } });
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(el.querySelectorAll('.acp-plan li')).toHaveLength(1);
  });

  it('a plan: once the turn has ended no step is under way', async () => {
    const entries = [{ content: 'step', priority: 'medium', status: 'in_progress' }];
    const { el, kernel } = await live(turn({ items: [{ type: 'plan', plan_id: 'p' }], plans: { p: { entries } } }));
    const mark = (): (string | null)[] => [$(el, '.acp-plan li').getAttribute('title'), $(el, '.acp-plan .acp-icon').getAttribute('aria-label')];
    expect(mark()).toEqual([null, 'under way']);
    kernel.ops({ op: 'merge', path: [], value: { state: 'done', stop_reason: 'end_turn', ended_at: 1042 } });
    await frame();
    expect(mark()).toEqual(['not finished', 'not finished']);
    expect(el.querySelector('.acp-plan circle')).toBeNull();
  });

  it('a plan’s words are plain but for `code`, and hide nothing', () => {
    const entries = [{ content: '**Run** `py\u202etest -q`, <b>then</b> ``x`` and `y', priority: 'medium', status: 'pending' }];
    const el = saved(turn({ items: [{ type: 'plan', plan_id: 'p' }], plans: { p: { entries } } }));
    expect($(el, '.acp-plan').textContent).toBe('**Run** pyU+202Etest -q, <b>then</b> ``x`` and `y');
    expect([...el.querySelectorAll('.acp-plan code')].map(one => one.textContent)).toEqual(['pyU+202Etest -q']);
  });

  it('a person’s words are labelled', () => {
    expect($(saved(turn({ items: [{ type: 'message', role: 'user', message_id: null, text: 'and x?' }] })), '.acp-message[data-role=user]').textContent).toBe('youand x?');
  });

  it('content blocks', () => {
    const block = (type: string, more: object): Turn['items'][number] => ({ type: 'content', role: 'agent', message_id: null, block: { type, ...more } });
    const el = saved(turn({
      items: [
        block('image', { mimeType: 'image/png', data: 'iVBORw0KGgo=' }), block('image', { mimeType: 'image/svg+xml', data: 'PHN2Zz4=', uri: 'http://x/y.svg' }),
        block('image', { mimeType: 'image/png', data: '"><script>' }), block('audio', { mimeType: 'audio/wav', data: 'UklGRg==' }),
        block('resource_link', { name: 'a.py', uri: 'file:///a.py', size: 1200 }), block('resource', { resource: { uri: 'file:///b', blob: 'AAAA' } }), block('hologram', { x: 1 })
      ]
    }));
    expect([...el.querySelectorAll('img')].map(img => img.getAttribute('src'))).toEqual(['data:image/png;base64,iVBORw0KGgo=']);
    expect($(el, 'audio').getAttribute('src')).toBe('data:audio/wav;base64,UklGRg==');
    for (const words of ['image/svg+xml', 'http://x/y.svg', 'a.py', 'file:///a.py', '1.2 kB', 'content of an unknown type: hologram']) expect(el.textContent).toContain(words);
  });

  it('notices, compaction, mode, and what we do not understand', async () => {
    const el = saved(turn({
      items: [
        { type: 'notice', severity: 'error', title: 'Busy', description: null },
        { type: 'compaction', compaction_id: 'c', status: 'failed', summary: [], error: 'too long' },
        { type: 'mode', id: 'yolo', name: 'Yolo' },
        { type: 'unknown', kind: 'quota_update', raw: '{"left":12345678901234567890}' }
      ]
    }));
    for (const words of ['Busy', 'failed to shorten its context', 'too long', 'The agent’s mode is now Yolo', 'quota_update']) expect(el.textContent).toContain(words);
    await click($(el, '.acp-unknown button'));
    expect($(el, '.acp-unknown').textContent).toContain('12345678901234567890');
  });
});

describe('a document that cannot be read', () => {
  it.each([
    [null, 'damaged'], ['text', 'damaged'], [[], 'damaged'], [{}, 'version is missing'], [{ version: 2 }, 'format 2'], [{ version: 'x' }, 'damaged'],
    [{ version: 1 }, 'items'], [{ ...turn(), tool_calls: [] }, 'tool_calls']
  ])('%j gives a line', (doc, words) => {
    const el = saved(doc);
    expect(el.textContent).toContain(words);
    expect(el.querySelector('button')).toBeNull();
  });

  it('one damaged part costs that part', async () => {
    const el = saved(turnOf([{ ...call(), content: null as never }, call({ tool_call_id: 'ok', title: 'fine' })], {}));
    await frame();
    expect(el.textContent).toContain('damaged. Parts that cannot be read as they should: tool_calls.t1.content.');
    expect(el.textContent).toContain('fine');
    expect(saved(turn({ items: [{ type: 'tool_call', tool_call_id: 'none' }] })).textContent).toContain('missing');
  });

  it('keys that it does not know are ignored, and those that are missing are made up for', () => {
    const { agent, items, tool_calls, terminals, permissions, plans } = turn();
    expect(saved({ version: 1, agent, items, tool_calls, terminals, permissions, plans, later: { x: 1 } }).querySelector('.acp-turn')).not.toBeNull();
  });
});
