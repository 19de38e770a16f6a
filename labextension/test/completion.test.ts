import type { NotebookPanel } from '@jupyterlab/notebook';
import { describe, expect, it, vi } from 'vitest';
import { commandsIn, Completion, filesFor, wordAt, type App } from '../src/completion';
import { MIME } from '../src/types';

const folders: Record<string, unknown> = {
  work: [{ name: 'data', type: 'directory' }, { name: 'a b.txt', type: 'file' }],
  'work/data': [{ name: 'one.csv', type: 'file' }],
  'work/text': 'what a file holds'
};

function app() {
  const get = vi.fn(async (path: string) => {
    if (!(path in folders)) throw new Error('404');
    return { content: folders[path] };
  });
  return { get, app: { serviceManager: { contents: { get } } } satisfies App };
}

function panel(...turns: unknown[]): NotebookPanel {
  const outputs = { length: turns.length, get: (at: number) => ({ data: { [MIME]: turns[at] } }) };
  return { content: { model: { cells: { length: 1, get: () => ({ outputs }) } } }, context: { path: 'work/a.ipynb' } } as unknown as NotebookPanel;
}

it.each([
  ['%%acp\n/re', '/re'],
  ['%%acp\nsee a/b', null],
  ['%%acp\nsee /re', null],
  ['%%acp\nsee @da', '@da'],
  ['%%acp\n@', '@'],
  ['%%acp\nme@home', null],
  ['%%acp\nword', null]
])('in %j the word is %j', (text, word) => expect(wordAt(text, text.length)).toBe(word));

describe('files', () => {
  it.each([
    ['@', ['@data/', '@a b.txt']],
    ['@data/o', ['@data/one.csv']],
    ['@text/', []],
    ['@none/', []]
  ])('for %j are %j', async (word, labels) => {
    expect((await filesFor(word, 'work/a.ipynb', app().app)).map(({ label }) => label)).toEqual(labels);
  });

  it.each(['@../', '@data/../../', '@/etc/'])('none are asked for by %j: it leaves the notebook’s folder', async word => {
    const { get, app: page } = app();
    expect(await filesFor(word, 'work/a.ipynb', page)).toEqual([]);
    expect(get).not.toHaveBeenCalled();
  });
});

describe('commands', () => {
  it('are those of the latest turn that has some, and what is damaged is none', () => {
    const damaged = [null, 7, {}, { name: 'two words' }, { name: 'review', description: 3 }, { name: 'reset', description: 'anew' }];
    const items = commandsIn(panel({ commands: [{ name: 'old' }] }, { commands: damaged }, { commands: [] }, null));
    expect(items).toEqual([{ label: '/review', type: 'command' }, { label: '/reset', type: 'command', documentation: 'anew' }]);
  });
});

describe('the provider', () => {
  const context = (source: string, widget: unknown = null) => ({ widget, editor: { model: { sharedModel: { getSource: () => source } } } });

  it('is for prompts alone', async () => {
    const provider = new Completion(app().app);
    expect(await provider.isApplicable(context('%%acp\n/'))).toBe(true);
    expect(await provider.isApplicable(context('x = 1'))).toBe(false);
    expect(await provider.isApplicable({ widget: null, editor: null })).toBe(false);
  });

  it('replaces the word by what goes on with it', async () => {
    const text = '%%acp\nsee @da';
    const reply = await new Completion(app().app).fetch({ text, offset: text.length }, context(text, panel()));
    expect(reply).toEqual({ start: 10, end: 13, items: [{ label: '@data/', type: 'folder' }] });
  });
});
