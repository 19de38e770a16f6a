import type { CellModel } from '@jupyterlab/notebook';
import { describe, expect, it } from 'vitest';
import { followLanguage, isPrompt } from '../src/prompts';

class Signal {
  private readonly slots: ((sender: unknown, args: unknown) => void)[] = [];
  connect(slot: (sender: unknown, args: unknown) => void): void {
    this.slots.push(slot);
  }
  emit(): void {
    for (const slot of this.slots) slot(this, undefined);
  }
}

class Cell implements CellModel {
  readonly type = 'code';
  readonly mimeTypeChanged = new Signal();
  readonly contentChanged = new Signal();
  readonly sharedModel = { getSource: () => this.source };
  times = 0;

  constructor(
    private source: string,
    private language = 'text/x-ipython'
  ) {}

  get mimeType(): string {
    return this.language;
  }
  set mimeType(language: string) {
    this.times += 1;
    this.language = language;
    this.mimeTypeChanged.emit();
  }
  type_(source: string): void {
    this.source = source;
    this.contentChanged.emit();
  }
}

it.each([
  ['%%acp', true],
  ['%%acp claude --new\nGo', true],
  ['\n  \n%%acp\nGo', true],
  ['%%acpx\n', false],
  ['%acp status', false],
  ['# first\n%%acp', false],
  ['', false]
])('%j is a prompt: %s', (source, prompt) => expect(isPrompt(source)).toBe(prompt));

const loaded = async (): Promise<void> => undefined;
const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 5));

describe('the language of a code cell', () => {
  it('follows its first line', async () => {
    const cell = new Cell('x = 1');
    followLanguage(cell, loaded);
    await settled();
    expect(cell.times).toBe(0);
    cell.type_('%%acp\n# Title');
    await settled();
    cell.type_('%%acp\n# Title!');
    expect([cell.mimeType, cell.times]).toEqual(['text/x-ipythongfm', 1]);
    cell.type_('# Title!');
    await settled();
    expect(cell.mimeType).toBe('text/x-ipython');
  });

  it('stays Markdown when the notebook learns its kernel, whose language comes back later', async () => {
    const cell = new Cell('%%acp', 'text/plain');
    followLanguage(cell, loaded);
    await settled();
    cell.mimeType = 'text/x-julia';
    await settled();
    expect(cell.mimeType).toBe('text/x-ipythongfm');
    cell.type_('x');
    await settled();
    expect(cell.mimeType).toBe('text/x-julia');
  });

  it('of a cell that was Markdown before we came is Python', async () => {
    const cell = new Cell('x = 1', 'text/x-ipythongfm');
    followLanguage(cell, loaded);
    await settled();
    expect(cell.mimeType).toBe('text/x-ipython');
  });

  it('is set after the other one has been loaded: an editor shows what it has loaded last', async () => {
    const cell = new Cell('%%acp');
    let done: (value?: unknown) => void = () => undefined;
    followLanguage(cell, () => new Promise(resolve => (done = resolve)));
    await settled();
    expect(cell.mimeType).toBe('text/x-ipython');
    done();
    await settled();
    expect(cell.mimeType).toBe('text/x-ipythongfm');
  });
});
