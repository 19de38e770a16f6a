import { afterEach, describe, expect, it } from 'vitest';
import type { Turn } from '../src/types';
import { call, frame, live, permission, saved, terminal, turn } from './help';

afterEach(() => document.body.replaceChildren());

const NASTY = '</pre></textarea><script>window.PWN=1</script><img src="http://127.0.0.1:9/x" onerror="window.PWN=1"><svg onload=window.PWN=1>[x](javascript:window.PWN=1)![y](http://127.0.0.1:9/y)"\'`\u202e';

/** A turn that says `NASTY` wherever an agent can say something. */
function nastyTurn(): Turn {
  const block = { type: 'text', text: NASTY };
  const nasty = call({
    tool_call_id: NASTY, title: NASTY, name: NASTY, kind: NASTY, status: NASTY, locations: [{ path: NASTY, line: 1 }],
    raw_input: JSON.stringify({ command: NASTY, cwd: NASTY, url: NASTY, [NASTY]: NASTY }), raw_output: JSON.stringify(NASTY),
    content: [
      { type: 'content', block }, { type: 'terminal', terminal_id: NASTY }, { type: 'unknown', raw: NASTY },
      { type: 'diff', path: NASTY, is_new: true, new_text: NASTY, edits: [{ at: 0, add: 1, del: [NASTY], section: NASTY, marks: [['+', 0, 2, 9]] }], added: 1, removed: 1 },
      { type: 'content', block: { type: NASTY } as never }, { type: 'content', block: { type: 'resource', resource: { uri: NASTY, text: NASTY } } },
      { type: 'content', block: { type: 'image', mimeType: NASTY, data: NASTY, uri: NASTY } }, { type: 'content', block: { type: 'audio', mimeType: NASTY, data: NASTY } }
    ]
  });
  const execute = { ...nasty, tool_call_id: 'x', kind: 'execute', status: 'failed' };
  return turn({
    agent: { name: NASTY, title: NASTY, version: NASTY }, cwd: NASTY, additional_directories: [NASTY], policy: NASTY, title: NASTY, stop_reason: NASTY,
    mode: { id: NASTY, name: NASTY }, options: [{ id: NASTY, name: NASTY, category: 'model', value: NASTY }], notes: [{ severity: NASTY, text: NASTY }],
    error: { type: NASTY, message: NASTY, advice: NASTY, stderr: NASTY }, usage: { used: 1, size: 2, cost: { amount: 1, currency: NASTY } },
    items: [
      { type: 'message', role: 'agent', message_id: null, text: NASTY }, { type: 'message', role: NASTY, message_id: null, text: `\`\`\`${NASTY}\n${NASTY}\n\`\`\`` },
      { type: 'thought', message_id: null, text: NASTY, started_at: null, ended_at: null }, { type: 'content', role: 'agent', message_id: null, block: { type: 'resource_link', name: NASTY, uri: NASTY, description: NASTY } },
      { type: 'plan', plan_id: NASTY }, { type: 'tool_call', tool_call_id: NASTY }, { type: 'tool_call', tool_call_id: 'x' }, { type: 'tool_call', tool_call_id: '__proto__' },
      { type: 'terminal', terminal_id: 'lone' }, { type: 'notice', severity: NASTY, title: NASTY, description: NASTY }, { type: 'compaction', compaction_id: 'c', status: NASTY, summary: [block], error: NASTY },
      { type: 'mode', id: NASTY, name: NASTY }, { type: 'unknown', kind: NASTY, raw: JSON.stringify({ [NASTY]: NASTY }) }
    ],
    tool_calls: { [NASTY]: nasty, x: execute },
    terminals: { [NASTY]: terminal({ terminal_id: NASTY, output: NASTY, command: NASTY, signal: NASTY }), lone: terminal({ output: NASTY, command: NASTY }) },
    permissions: {
      1: permission({ tool_call_id: NASTY, options: [{ option_id: NASTY, name: NASTY, kind: NASTY }, { option_id: 'b', name: NASTY, kind: 'allow_once' }] }),
      2: permission({ key: '2', tool_call_id: 'x', options: [{ option_id: NASTY, name: NASTY, kind: NASTY }] }),
      3: permission({ key: '3', tool_call_id: 'x', state: 'selected', option_id: NASTY, decided_by: NASTY, reason: NASTY })
    },
    plans: { [NASTY]: { entries: [{ content: NASTY, priority: NASTY, status: NASTY }] } }
  });
}

/** Open everything that can be opened, in the card. */
async function openAll(el: HTMLElement): Promise<void> {
  for (let round = 0; round < 4; round++) {
    for (const button of el.querySelectorAll<HTMLElement>('[aria-expanded=false], [role=tab][aria-selected=false], .acp-more, .acp-unfold')) button.click();
    await frame();
  }
}

function check(el: HTMLElement): void {
  expect(el.querySelector('script, iframe, object, embed, form, style, link, meta, base')).toBeNull();
  for (const node of el.querySelectorAll('*')) {
    const inIcon = node.closest('svg.acp-icon') !== null;
    if (node.tagName === 'svg') expect(inIcon).toBe(true);
    expect(node.getAttribute('src') ?? '').not.toMatch(/^(?!data:)./);
    for (const { name, value } of node.attributes) {
      expect(name).not.toMatch(/^on/);
      if (name === 'href') expect(value).toMatch(/^(https?|mailto):/);
    }
  }
  expect((window as unknown as { PWN?: number }).PWN).toBeUndefined();
}

describe('an agent’s words in every field', () => {
  it.each(['done', 'failed', 'waiting', NASTY])('are inert when saved, state %#', async state => {
    const el = saved({ ...nastyTurn(), turn_id: Math.random().toString(), state });
    await openAll(el);
    check(el);
    expect(el.querySelectorAll('.acp-tool-call')).toHaveLength(2);
    expect(el.textContent).toContain('<script>window.PWN=1</script>');
    expect(el.textContent).not.toContain('could not be drawn');
  });

  it('are inert when live', async () => {
    const { el, kernel } = await live(nastyTurn());
    await openAll(el);
    check(el);
    kernel.ops({ op: 'append', path: ['items', 0, 'text'], value: NASTY }, { op: 'append', path: ['terminals', 'lone', 'output'], value: NASTY });
    await frame();
    check(el);
    const option = [...el.querySelectorAll<HTMLElement>('.acp-option')].find(one => one.dataset.optionId === NASTY);
    option?.click();
    expect(kernel.received.at(-1)).toEqual({ type: 'decide', key: '1', option_id: NASTY });
  });
});
