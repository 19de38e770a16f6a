import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serverRoots } from '../src/files';
import { setFiles } from '../src/page';
import type { Diff } from '../src/types';
import { $, call, click, live, saved, turnOf } from './help';
import { Lab, ROOT } from './lab';

const FILE = `${ROOT}/project/src/a.py`;

let lab: Lab;
beforeEach(() => void (lab = new Lab()));
afterEach(() => {
  document.body.replaceChildren();
  setFiles(undefined as never);
});

describe('the server’s root', () => {
  const rootsOf = (options: Record<string, string>): string[] => serverRoots(name => options[name] ?? '');

  it('is what the page says of it, with links resolved and as it was named', () => {
    expect(rootsOf({ rootUri: 'file:///data/my%20work', serverRoot: '/link/work' })).toEqual(['/data/my work', '/link/work']);
    expect(rootsOf({ rootUri: 'file:///home/user/work', serverRoot: '~/work' })).toEqual(['/home/user/work']);
    expect(rootsOf({ serverRoot: '~/work' })).toEqual([]);
  });

  it.each([
    [FILE, true],
    [`${ROOT}/../etc/passwd`, false],
    [`${ROOT}er/a.py`, false],
    ['/etc/passwd', false],
    ['project/src/a.py', false]
  ])('%s: %s', (path, inside) => {
    expect(lab.files().has(path)).toBe(inside);
    expect(lab.files([]).has(path)).toBe(false);
    expect(lab.files(['']).has(path)).toBe(false);
  });
});

describe('a file is opened', () => {
  it('beside the notebook, as text at the line, and the next one beside the first', async () => {
    const files = lab.files();
    expect(await files.open({ path: FILE, line: 12 }, document.body)).toBeNull();
    expect(lab.executed).toEqual([{ path: 'project/src/a.py', factory: 'Editor', options: { ref: 'nb', mode: 'split-right', activate: false } }]);
    expect(lab.setCursorPosition).toHaveBeenCalledWith({ line: 11, column: 0 });
    expect(lab.activateById).toHaveBeenCalledWith('project/src/a.py Editor');
    expect(lab.revert).not.toHaveBeenCalled();
    await files.open({ path: FILE, line: null }, document.body);
    expect(lab.executed[1]).toEqual({ path: 'project/src/a.py', options: { ref: 'project/src/a.py Editor', mode: 'tab-after', activate: false } });
    expect(lab.setCursorPosition).toHaveBeenCalledTimes(1);
  });

  it.each([[0, 0], [99, 19]])('line %s stays within it', async (line, at) => {
    await lab.files().open({ path: FILE, line }, document.body);
    expect(lab.setCursorPosition).toHaveBeenCalledWith({ line: at, column: 0 });
  });

  it('as the disk has it, unless somebody has changed the document', async () => {
    lab.contents['project/src/a.py'] = { type: 'file', last_modified: 'now' };
    await lab.files().open({ path: FILE, line: 1 }, document.body);
    expect(lab.revert).toHaveBeenCalledTimes(1);
    lab.model.dirty = true;
    await lab.files().open({ path: FILE, line: 1 }, document.body);
    expect(lab.revert).toHaveBeenCalledTimes(1);
  });

  it('in a tab of the browser, where the page has no room beside', async () => {
    lab.attached = false;
    expect(await lab.files().open({ path: FILE, line: 12 }, document.body)).toBeNull();
    expect(lab.activateById).not.toHaveBeenCalled();
    expect(lab.setCursorPosition).not.toHaveBeenCalled();
  });

  it('or the reason is told why not', async () => {
    lab.contents['project'] = { type: 'directory', last_modified: 'then' };
    const why = async (path: string): Promise<string | null> => lab.files().open({ path, line: 1 }, document.body);
    expect(await why('/etc/passwd')).toBe('The server does not open it: it is not among its files');
    expect(await why(`${ROOT}/project`)).toBe('The server does not open it: it is a folder');
    expect(await why(`${ROOT}/gone.py`)).toBe('The server does not open it: No such file: gone.py');
    expect(lab.executed).toEqual([]);
  });
});

const diff: Diff = { type: 'diff', path: FILE, is_new: false, new_text: 'a\nb\nnew\n', edits: [{ at: 2, add: 1, del: [], section: null, marks: [] }], added: 1, removed: 0 };

describe('on a card', () => {
  it('a file with its line is a button, live and saved', async () => {
    setFiles(lab.files());
    const doc = turnOf([call({ kind: 'read', locations: [{ path: FILE, line: 12 }] })]);
    for (const el of [(await live(doc)).el, saved(doc)]) {
      expect($(el, '.acp-tool-head .acp-file').textContent).toBe('src/a.py:12');
      await click($(el, '.acp-file'));
      expect(lab.setCursorPosition).toHaveBeenLastCalledWith({ line: 11, column: 0 });
    }
    expect(lab.executed).toHaveLength(2);
  });

  it('a diff leads to the first line that it changes', async () => {
    setFiles(lab.files());
    const el = saved(turnOf([call({ kind: 'edit', content: [diff] })]));
    await click($(el, '.acp-tool-head .acp-file'));
    expect(lab.setCursorPosition).toHaveBeenLastCalledWith({ line: 2, column: 0 });
  });

  it('says why a file was not opened', async () => {
    setFiles(lab.files());
    const el = saved(turnOf([call({ locations: [{ path: `${ROOT}/project/gone.py`, line: null }] })]));
    await click($(el, '.acp-file'));
    expect($(el, '[role=status]').textContent).toContain('No such file: project/gone.py');
  });

  it('what lies outside of the session’s directories or of the server’s, or where nothing opens it, is text', () => {
    const doc = turnOf([call({ locations: [{ path: FILE, line: 1 }, { path: `${ROOT}/other/b.py`, line: 2 }] })]);
    expect(saved(doc).querySelector('.acp-file')).toBeNull();
    setFiles(lab.files());
    expect([...saved(doc).querySelectorAll('.acp-file')].map(one => one.textContent)).toEqual(['src/a.py:1']);
    setFiles(lab.files(['/srv']));
    const el = saved(doc);
    expect(el.querySelector('.acp-file')).toBeNull();
    expect($(el, '.acp-place [title]').title).toContain('not among those that the Jupyter server shows');
  });
});
