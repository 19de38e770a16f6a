import { describe, expect, it } from 'vitest';
import { mend } from '../src/mend';
import { mountSaved } from '../src/renderer';
import type { Edit, Turn } from '../src/types';
import { call, elicitation, field, frame, permission, saved, terminal, turn } from './help';

const EVIL = '<img src=x onerror="window.PWN=1"><script>window.PWN=1</script>';
const VALUES: unknown[] = [null, -1e9, {}, [null], { type: EVIL }, EVIL];

/** A turn that has something of everything. */
function rich(): Turn {
  const edits: Edit[] = [{ at: 1, add: 1, del: ['c'], section: 'def f', marks: [['+', 0, 0, 1]] }];
  const block = { type: 'resource', resource: { uri: 'file:///a', text: 'words' } };
  const one = call({
    title: 'Edit', name: 'Edit', kind: 'edit', status: 'completed', locations: [{ path: '/p/a.py', line: 3 }], raw_input: '{"path":"/p/a.py"}', raw_output: '1', ended_at: 1002,
    content: [{ type: 'diff', path: '/p/a.py', is_new: false, new_text: 'a\nb\n', edits, added: 1, removed: 1 }, { type: 'content', block }, { type: 'terminal', terminal_id: 'x1' }, { type: 'unknown', raw: '{}' }]
  });
  return turn({
    turn_id: `damaged-${Math.random()}`, state: 'done', ended_at: 1010, stop_reason: 'end_turn', title: 'Title', mode: { id: 'm', name: 'M' },
    additional_directories: ['/q'], notes: [{ severity: 'info', text: 'note' }], options: [{ id: 'o', name: 'Model', category: 'model', value: 'Large' }],
    error: { type: 'AgentError', message: 'it broke', advice: 'mend it', stderr: 'trace' }, usage: { used: 5, size: 10, cost: { amount: 0.1, currency: 'USD' } },
    items: [
      { type: 'message', role: 'agent', message_id: null, text: 'The first words' }, { type: 'thought', message_id: null, text: 'hm', started_at: 1, ended_at: 2 },
      { type: 'content', role: 'agent', message_id: null, block: { type: 'image', mimeType: 'image/png', data: 'AAAA' } }, { type: 'plan', plan_id: 'p' },
      { type: 'elicitation', key: 'e1' }, { type: 'elicitation', key: 'e2' }, { type: 'tool_call', tool_call_id: 't1' }, { type: 'terminal', terminal_id: 'x2' }, { type: 'notice', severity: 'info', title: 'N', description: 'D' },
      { type: 'compaction', compaction_id: 'c', status: 'completed', summary: [{ type: 'text', text: 's' }], error: null },
      { type: 'mode', id: 'm', name: 'M', by: 'you' }, { type: 'option', id: 'o', name: 'Model', value: 'Large', by: 'agent' }, { type: 'unknown', kind: 'k', raw: '{"a":1}' },
      { type: 'message', role: 'agent', message_id: null, text: 'The last words' }
    ],
    tool_calls: { t1: one },
    terminals: { x1: terminal({ output: 'out\n', exit_code: 1, ended_at: 2 }), x2: terminal({ terminal_id: 'x2', output: 'two' }) },
    permissions: {
      1: permission({ state: 'selected', option_id: 'once', decided_by: 'you', reason: 'why', decided_at: 3, asked: { ...one, title: 'asked' } }),
      2: permission({ key: '2' })
    },
    elicitations: {
      e1: elicitation({
        title: 'Where to', description: 'All', fields: [field({ name: 'n', title: 'Name' })], tool_call_id: 't1',
        state: 'accepted', content: '{"n":"Ada"}', decided_by: 'you', reason: 'why', opened_at: 1, decided_at: 3
      }),
      e2: elicitation({ key: 'e2', mode: 'url', url: 'https://x.test/', address: { before: 'https://', host: 'x.test', after: '/', warnings: ['beware'] } })
    },
    plans: { p: { entries: [{ content: 'step', priority: 'high', status: 'pending' }] } }
  });
}

type Path = (string | number)[];

/** The path of each value in `node`, its own first. */
function paths(node: unknown, at: Path = []): Path[] {
  if (typeof node !== 'object' || node === null) return [at];
  const keys: Path = Array.isArray(node) ? [...node.keys()] : Object.keys(node);
  const inner = keys.flatMap(key => paths((node as Record<string | number, unknown>)[key], [...at, key]));
  return at.length === 0 ? inner : [at, ...inner];
}

function changed(path: Path, value: unknown): unknown {
  const doc = rich() as unknown as Record<string | number, unknown>;
  let node = doc;
  for (const key of path.slice(0, -1)) node = node[key] as typeof doc;
  node[path.at(-1) as string] = value;
  return doc;
}

/** Why a drawn document is not fit for a reader, or null. */
function trouble(el: HTMLElement): string | null {
  if (el.querySelector('script, iframe, object, embed, form, style, link')) return 'an element that acts';
  for (const node of el.querySelectorAll('*')) {
    for (const { name, value } of node.attributes) {
      if (name.startsWith('on')) return `a handler: ${name}`;
      if (['src', 'href', 'srcset'].includes(name) && !/^(data:image\/|mailto:|#)/.test(value)) return `an address: ${value}`;
    }
  }
  if (el.querySelector('.acp-option, .acp-stop')) return 'a live button';
  if (el.querySelector('.acp-failure')) return el.textContent?.includes('saved') ? null : 'an unclear line';
  if (!el.querySelector('.acp-turn')) return 'a blank';
  return /could not be drawn/.test(el.textContent ?? '') ? `a broken part: ${el.textContent?.slice(0, 300)}` : null;
}

function openAll(el: HTMLElement): void {
  for (const button of el.querySelectorAll<HTMLElement>('[aria-expanded=false], [role=tab][aria-selected=false], .acp-more, .acp-unfold')) button.click();
}

const fields = [...new Set(paths(rich()).map(path => path.join('.')))];

describe('a document with one value that is not what it should be', () => {
  it('is about all there is', () => {
    expect(fields.length).toBeGreaterThan(150);
    for (const field of ['items.0.text', 'tool_calls.t1.content.0.edits.0.marks.0', 'usage.cost.amount', 'permissions.1.asked.locations.0.line']) {
      expect(fields).toContain(field);
    }
  });

  const whole = paths(rich());
  it.each([...new Set(whole.map(path => String(path[0])))])('is readable and inert: %s', async top => {
    const found: string[] = [];
    for (const [at, path] of whole.entries()) {
      if (String(path[0]) !== top) continue;
      const value = VALUES[at % VALUES.length]; // to draw them all would take minutes
      const el = document.createElement('div');
      const dispose = mountSaved(changed(path, value), el);
      openAll(el);
      await Promise.resolve(); // what was opened is drawn in the next microtask
      const why = trouble(el);
      if (why) found.push(`${path.join('.')} = ${JSON.stringify(value)}: ${why}`);
      dispose();
    }
    expect(found).toEqual([]);
    expect((window as unknown as { PWN?: number }).PWN).toBeUndefined();
  }, 60_000);

  it('has nothing left that is wrong, once mended', () => {
    for (const path of whole) {
      for (const value of VALUES) {
        const { turn: mended } = mend(changed(path, value) as Record<string, unknown>);
        expect(mend(mended as Record<string, unknown>).wrong, `${path.join('.')} = ${JSON.stringify(value)}`).toEqual([]);
      }
    }
  });

  it('tells where, and the rest as it was', () => {
    const el = saved(changed(['items', 0, 'text'], { made: 'up' }));
    expect(el.querySelector('.acp-note')?.textContent).toContain('damaged. Parts that cannot be read as they should: items.0.text.');
    expect(el.textContent).toContain('{"made":"up"}');
    expect(el.textContent).toContain('The last words');
  });

  it('says nothing of a whole one', () => {
    expect(saved(rich()).textContent).not.toContain('damaged');
  });

  it('a diff whose edits do not lie in its text is shown as it stands', async () => {
    const el = saved(changed(['tool_calls', 't1', 'content', 0, 'edits', 0, 'at'], 1e9));
    for (let depth = 0; depth < 4; depth++) {
      openAll(el);
      await frame();
    }
    expect(el.querySelector('.acp-tool-call .acp-unknown')?.textContent).toContain('1000000000');
  });

  it('an unknown kind of item is no damage', async () => {
    const el = saved(changed(['items', 0], { type: 'hologram', depth: 3 }));
    expect(el.textContent).not.toContain('damaged');
    openAll(el);
    await frame();
    expect(el.querySelector('.acp-unknown')?.textContent).toContain('hologram');
    expect(el.querySelector('.acp-unknown')?.textContent).toContain('depth');
  });
});
