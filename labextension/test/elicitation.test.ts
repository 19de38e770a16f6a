import { afterEach, describe, expect, it } from 'vitest';
import { BOX_REST_MS } from '../src/card/rest';
import type { Elicitation, Field, FromCard, Turn } from '../src/types';
import { $, click, elicitation, field, frame, type Kernel, live, pass, permission, saved, turn } from './help';

afterEach(() => document.body.replaceChildren());

const choices = (...values: string[]): Field['choices'] => values.map(value => ({ value, title: value.toUpperCase(), description: null }));

const FIELDS: Field[] = [
  field({ name: 'name', title: 'Your name', description: 'As on the badge', required: true, rules: ['length at least 2', 'required'] }),
  field({ name: 'count', kind: 'integer', default: '9007199254740993' }),
  field({ name: 'sure', kind: 'boolean' }),
  field({ name: 'region', kind: 'choice', required: true, default: '"eu"', choices: choices('eu', 'us') }),
  field({ name: 'tags', kind: 'choices', choices: choices('a', 'b', 'c') }),
  field({ name: 'key', secret: true }),
  field({ name: 'city', kind: 'choice', choices: choices(...'abcdefgh') })
];

function form(more: Partial<Elicitation> = {}): Elicitation {
  return elicitation({ message: 'Fill it in.\nAll of it.', title: 'Where to', fields: FIELDS, ...more });
}

function address(more: Partial<Elicitation> = {}): Elicitation {
  const pieces = { before: 'https://', host: 'example.org', after: '/log/in?to=1', warnings: [] };
  return form({ mode: 'url', message: 'Log in.', title: null, fields: [], url: 'https://example.org/log/in?to=1', address: pieces, ...more });
}

function asking(node: Elicitation, more: Partial<Turn> = {}): Turn {
  const waits = node.state === 'open' ? 'waiting' : 'running';
  return turn({ state: waits, items: [{ type: 'elicitation', key: node.key }], elicitations: { [node.key]: node }, ...more });
}

const box = (el: Element): HTMLElement => $(el, '.acp-elicitation');
const button = (el: Element, action: string): HTMLElement => $(el, `button[data-action="${action}"]`);
const told = (kernel: Kernel): FromCard[] => kernel.received.filter(message => message.type === 'elicit');

/** The control of that name, as a screen reader finds it. */
function control(el: Element, name: string): HTMLInputElement {
  const label = [...el.querySelectorAll('label')].find(one => one.textContent?.trim() === name);
  return (label?.querySelector('input') ?? document.getElementById(label?.htmlFor ?? '')) as HTMLInputElement;
}

async function type(input: HTMLInputElement, text: string, { leave = true } = {}): Promise<void> {
  input.focus();
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  if (leave) input.dispatchEvent(new Event('change', { bubbles: true }));
  await frame();
}

describe('a form', () => {
  it('shows who asks for what, with a control for each field', async () => {
    const { el } = await live(asking(form()));
    expect($(el, '.acp-state').textContent).toBe('needs your answer');
    expect($(el, '.acp-tool-head').textContent).toContain('Claude Code asks for values');
    expect($(el, '.acp-status').textContent).toBe('Needs your answer');
    for (const words of ['Where to', 'Fill it in.\nAll of it.', 'As on the badge', 'length at least 2 · required']) expect(box(el).textContent).toContain(words);
    expect(control(el, 'Your name').type).toBe('text');
    expect(control(el, 'key').type).toBe('password');
    expect(control(el, 'count').value).toBe('9007199254740993');
    expect(control(el, 'city').tagName).toBe('SELECT');
    expect([...el.querySelectorAll('.acp-field[role="group"]')].map(set => document.getElementById(set.getAttribute('aria-labelledby') ?? '')?.textContent)).toEqual(['sure', 'region', 'tags']);
    expect([...el.querySelectorAll<HTMLInputElement>('[role="group"].acp-field input')].map(input => `${input.type} ${input.checked}`)).toEqual([
      'radio false', 'radio false', 'radio true', // yes, no, no answer
      'radio true', 'radio false',
      'checkbox false', 'checkbox false', 'checkbox false'
    ]);
    expect(box(el).getAttribute('aria-label')).toBe('The agent needs your answer');
  });

  it('names each control, and says what it may be and whether it must', async () => {
    const { el } = await live(asking(form({ faults: { name: 'It must be given.', region: 'Choose.' } })));
    for (const one of el.querySelectorAll<HTMLInputElement>('input, select, textarea')) expect(one.labels?.[0]?.textContent?.trim()).toBeTruthy();
    const name = control(el, 'Your name');
    expect(name.getAttribute('aria-required')).toBe('true');
    expect(name.getAttribute('aria-invalid')).toBe('true');
    const described = (one: Element): string => (one.getAttribute('aria-describedby') ?? '').split(' ').map(id => document.getElementById(id)?.textContent).join('|');
    expect(described(name)).toBe('It must be given.|As on the badge|length at least 2 · required');
    expect(described($(el, '.acp-field:has(input[type=radio][aria-invalid])'))).toContain('Choose.');
    expect(control(el, 'count').hasAttribute('aria-invalid')).toBe(false);
  });

  it('sends what was put in, and what was proposed, by the button alone', async () => {
    const { el, kernel } = await live(asking(form()));
    await type(control(el, 'Your name'), 'Ada');
    await click(control(el, 'Yes'));
    await click(control(el, 'C [c]'));
    await click(control(el, 'A [a]'));
    expect(told(kernel).every(message => message.type === 'elicit' && message.action === 'check')).toBe(true);
    await click(button(el, 'accept'));
    const content = { name: 'Ada', count: '9007199254740993', sure: true, region: 'eu', tags: ['a', 'c'], key: null, city: null };
    expect(told(kernel).at(-1)).toEqual({ type: 'elicit', key: 'e1', action: 'accept', content });
    expect(document.activeElement).toBe(box(el));
  });

  it('loses nothing of what comes faster than it is drawn', async () => {
    const { el, kernel } = await live(asking(form()));
    void type(control(el, 'Your name'), 'Ada');
    for (const name of ['A [a]', 'C [c]', 'US [us]', 'No']) control(el, name).click();
    button(el, 'accept').click();
    const content = { name: 'Ada', count: '9007199254740993', sure: false, region: 'us', tags: ['a', 'c'], key: null, city: null };
    expect(told(kernel).at(-1)).toMatchObject({ action: 'accept', content });
  });

  it('sends nothing by Enter in a field', async () => {
    const { el, kernel } = await live(asking(form()));
    await type(control(el, 'Your name'), 'Ada', { leave: false });
    for (const type of ['keydown', 'keypress', 'keyup']) control(el, 'Your name').dispatchEvent(new KeyboardEvent(type, { key: 'Enter', bubbles: true, cancelable: true }));
    await frame();
    expect(told(kernel)).toEqual([]);
    expect(el.querySelector('form')).toBeNull();
  });

  it('has the kernel check the fields that were left, no others', async () => {
    const { el, kernel } = await live(asking(form()));
    await type(control(el, 'count'), 'few');
    await type(control(el, 'Your name'), '');
    expect(told(kernel)).toEqual([
      { type: 'elicit', key: 'e1', action: 'check', content: { count: 'few' } },
      { type: 'elicit', key: 'e1', action: 'check', content: { name: null, count: 'few' } }
    ]);
  });

  it('shows what is wrong beside the field, goes there, and can be sent again', async () => {
    const { el, kernel } = await live(asking(form()));
    await click(button(el, 'accept'));
    kernel.ops({ op: 'merge', path: ['elicitations', 'e1'], value: { faults: { name: 'It must be given.' } } });
    await frame();
    const name = control(el, 'Your name');
    expect($(name.closest('.acp-field') as Element, '[role="alert"]').textContent).toBe('It must be given.');
    expect(document.activeElement).toBe(name);
    await click(button(el, 'accept'));
    expect(told(kernel).length).toBe(2);
    expect(document.activeElement).toBe(name);
  });

  it('keeps what was typed while the agent goes on, and when the card is drawn anew', async () => {
    const doc = asking(form());
    const { el, kernel, dispose } = await live(doc);
    const name = control(el, 'Your name');
    await type(name, 'Ad', { leave: false });
    kernel.ops({ op: 'merge', path: ['items', 1], value: { type: 'message', role: 'agent', message_id: null, text: 'More.' } });
    kernel.ops({ op: 'merge', path: ['elicitations', 'e1'], value: { faults: { name: 'no' } } });
    kernel.snapshot();
    await frame();
    expect(control(el, 'Your name')).toBe(name);
    expect(name.value).toBe('Ad');
    name.setSelectionRange(1, 1);
    name.dispatchEvent(new KeyboardEvent('keyup', { key: 'ArrowLeft', bubbles: true }));
    dispose();
    const { el: anew } = await live(doc);
    await frame(); // it takes the focus once it has a size
    const again = control(anew, 'Your name');
    expect([again.value, again.selectionStart, document.activeElement === again]).toEqual(['Ad', 1, true]);
  });

  it('shows the same in two views', async () => {
    const doc = asking(form());
    const first = await live(doc);
    const second = await live(doc);
    const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
    expect(new Set(ids).size).toBe(ids.length);
    await type(control(first.el, 'Your name'), 'Ada', { leave: false });
    expect(control(second.el, 'Your name').value).toBe('Ada');
  });

  it('forgets what was typed once it is answered', async () => {
    const doc = asking(form());
    const { el, kernel, dispose } = await live(doc);
    await type(control(el, 'key'), 'planted');
    kernel.ops({ op: 'merge', path: ['elicitations', 'e1'], value: { state: 'accepted', decided_by: 'you', content: '{"key":"[not saved]"}' } });
    await frame();
    expect(el.querySelector('input')).toBeNull();
    dispose();
    const again = await live(doc);
    expect(control(again.el, 'key').value).toBe('');
  });

  it.each(['decline', 'cancel'])('can be answered by %s once, not before it has rested', async action => {
    const { el, kernel } = await live(asking(form()), { young: true });
    await click(button(el, action));
    expect(told(kernel)).toEqual([]);
    pass(BOX_REST_MS);
    await click(button(el, action));
    await click(button(el, action));
    expect(told(kernel)).toEqual([{ type: 'elicit', key: 'e1', action, content: null }]);
    expect(button(el, action).textContent).toContain('sent…');
    expect((button(el, 'accept') as HTMLButtonElement).disabled).toBe(true);
  });

  it('shows characters that would hide, and makes no link of anything', async () => {
    const { el } = await live(asking(form({ message: 'go to https://evil.example/ \u202e', fields: [field({ name: 'a', title: 'x\u200by', description: '[a](https://b.example)' })] })));
    expect(el.querySelector('a')).toBeNull();
    expect([...box(el).querySelectorAll('.acp-hidden')].map(one => one.textContent)).toEqual(['U+202E', 'U+200B']);
  });

  it('gives a long text several lines, and a date that is none no field for dates', async () => {
    const fields = [
      field({ name: 'long', maximum: 1000 }), field({ name: 'lines', default: '"a\\nb"' }), field({ name: 'day', format: 'date' }), field({ name: 'none', format: 'date', default: '"soon"' })
    ];
    const { el } = await live(asking(form({ fields })));
    expect(['long', 'lines', 'day', 'none'].map(name => control(el, name).type)).toEqual(['textarea', 'textarea', 'date', 'text']);
    expect([control(el, 'lines').value, control(el, 'none').value]).toEqual(['a\nb', 'soon']);
  });
});

describe('an address', () => {
  it('is whole, its host set off, and opened by a click on one link alone', async () => {
    const { el, kernel } = await live(asking(address()));
    expect($(el, '.acp-tool-head').textContent).toContain('asks you to open an address');
    expect($(el, '.acp-address').textContent).toBe('https://example.org/log/in?to=1');
    expect($(el, '.acp-address b').textContent).toBe('example.org');
    const links = [...el.querySelectorAll('a')];
    expect(links.map(link => [link.href, link.target, link.rel])).toEqual([['https://example.org/log/in?to=1', '_blank', 'noopener noreferrer']]);
    expect(el.querySelector('.acp-warning')).toBeNull();
    links[0]?.addEventListener('click', event => event.preventDefault());
    await click(links[0] as Element);
    expect($(el, '.acp-open').textContent).toContain('You have opened it.');
    expect(told(kernel)).toEqual([]);
    await click(button(el, 'accept'));
    expect(told(kernel)).toEqual([{ type: 'elicit', key: 'e1', action: 'accept', content: null }]);
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'no address'])('is no link where it leads to no web page: %s', async url => {
    const { el } = await live(asking(address({ url })));
    expect(el.querySelector('a')).toBeNull();
  });

  it('is warned of by the kernel, and where the browser reads another host', async () => {
    const pieces = { before: 'https://', host: 'exämple.org', after: '/', warnings: ['The host has characters beyond ASCII: exämple.org (U+00E4).'] };
    const { el } = await live(asking(address({ url: 'https://exämple.org/', address: pieces })));
    expect([...el.querySelectorAll('.acp-warning')].map(one => one.textContent)).toEqual([pieces.warnings[0], 'Your browser reads the host as xn--exmple-cua.org']);
  });

  it('says when the agent calls it done, and is then no link', async () => {
    const { el, kernel } = await live(asking(address()));
    kernel.ops({ op: 'merge', path: ['elicitations', 'e1'], value: { state: 'accepted', decided_by: 'you', decided_at: 1002 } });
    await frame();
    expect(box(el).textContent).toContain('Agreed to open it by you at');
    expect(el.querySelectorAll('a').length).toBe(1);
    kernel.ops({ op: 'merge', path: ['elicitations', 'e1'], value: { completed: true } });
    await frame();
    expect(box(el).textContent).toContain('the agent says that it is done');
    expect(el.querySelector('a')).toBeNull();
  });
});

describe('what was answered', () => {
  const content = '{"name":"Ada","count":9007199254740993,"sure":false,"tags":["a","b"],"key":"[not saved]"}';
  const sent = form({ state: 'accepted', decided_by: 'you', decided_at: 1002, content });

  it.each(['live', 'saved'])('is shown by field, with numbers as they are: %s', async how => {
    const el = how === 'live' ? (await live(asking(sent))).el : saved(asking(sent, { state: 'done', ended_at: 1003 }));
    const values = [...el.querySelectorAll('.acp-elicitation li')].map(one => one.textContent);
    expect(values).toEqual(['Your name: Ada', 'count: 9007199254740993', 'sure: no', 'tags: a, b', 'key: [not saved]']);
    expect(box(el).textContent).toMatch(/Sent by you at \d\d:\d\d:\d\d/);
    expect(el.querySelector('input, button[data-action], a')).toBeNull();
  });

  it.each([
    [{ state: 'declined', decided_by: 'you' }, 'Declined by you'],
    [{ state: 'declined', decided_by: 'nobody', reason: 'run it where somebody can be asked' }, 'Declined, since nobody could be asked · run it where somebody can be asked'],
    [{ state: 'cancelled', decided_by: 'you' }, 'Put away by you'],
    [{ state: 'cancelled', decided_by: 'turn' }, 'Not answered: the turn ended first'],
    [{ state: 'cancelled', decided_by: 'agent' }, 'Withdrawn by the agent']
  ])('says who did what: %j', (more, words) => {
    expect(box(saved(asking(form(more)))).textContent).toContain(words);
  });

  it('was none when it was saved, or the kernel went away: then nothing can be answered', async () => {
    const copy = saved(asking(form()));
    expect(box(copy).textContent).toContain('It was waiting for an answer when this was saved.');
    const { el, kernel } = await live(asking(form()));
    kernel.die();
    await frame();
    expect(box(el).textContent).toContain('It was waiting for an answer when the kernel went away.');
    for (const one of [copy, el]) {
      expect(one.querySelector(':enabled:is(input, select, textarea), button[data-action]')).toBeNull();
      expect(one.querySelectorAll('fieldset:disabled input').length).toBeGreaterThan(0);
    }
  });

  it('is readable in a document of before there were such questions', () => {
    const { elicitations: _, ...old } = turn({ state: 'done' });
    expect($(saved(old), '.acp-state').textContent).toContain('done');
  });
});

describe('several questions', () => {
  it('are counted together, and the card goes from one to the next', async () => {
    const doc = asking(form(), { elicitations: { e1: form(), e2: address({ key: 'e2', opened_at: 1002 }) } });
    doc.items.push({ type: 'elicitation', key: 'e2' });
    const { el } = await live(doc);
    Element.prototype.scrollIntoView ??= () => undefined;
    expect($(el, '.acp-queue').textContent).toContain('1 of 2');
    await click($(el, '.acp-next'));
    expect((document.activeElement as HTMLElement).dataset.key).toBe('e1');
    await click($(el, '.acp-next'));
    expect((document.activeElement as HTMLElement).dataset.key).toBe('e2');
  });

  it('say that an approval is waited for where one is', async () => {
    const { el } = await live(asking(form(), { permissions: { '1': permission() } }));
    expect($(el, '.acp-state').textContent).toBe('waiting for your approval');
  });
});
