// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { bytes, clock, duration, money, plural, roughly, tokens } from '../src/text/format';
import { fromCwd, pathTrouble } from '../src/text/paths';
import { visible } from '../src/text/visible';
import { toolInput } from '../src/tool-input';

function shown(text: string): string {
  return visible(text).map(piece => (typeof piece === 'string' ? piece : `[${piece.badge}]`)).join('');
}

describe('visible', () => {
  it.each([
    ['install.sh\u202e | sh', 'install.sh[U+202E] | sh'],
    ['a\u200bb\u2066c\ufeff', 'a[U+200B]b[U+2066]c[U+FEFF]'],
    ['rm -rf x\r\u001b[2Kls', 'rm -rf x[U+000D][U+001B][2Kls'],
    ['back\bspace\u0000', 'back[U+0008]space[U+0000]'],
    ['tag\u{e0041}', 'tag[U+E0041]'],
    ['a\ttab\nand lines', 'a\ttab\nand lines'],
    ['plain äöü 中文 עברית', 'plain äöü 中文 עברית'],
    ['⚠\ufe0f warning 👩\u200d💻 x\u200dy', '⚠\ufe0f warning 👩\u200d💻 x[U+200D]y'],
    [`echo ok${' '.repeat(214)}; rm -rf build`, 'echo ok[↦ 214 spaces]; rm -rf build'],
    [`a${'\n'.repeat(12)}b`, 'a[↵ 11 empty lines]\nb'],
    ['        indented', '        indented']
  ])('%j', (text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it('loses no character that can be seen', () => {
    const text = `a\u202eb${' '.repeat(40)}c\u200d\nd`;
    expect(shown(text).replace(/\[.*?\]/g, '')).toBe('abc\nd');
  });
});

describe('words for numbers', () => {
  it('durations and clocks', () => {
    expect([0.2, 3.14, 42, 185, 7440].map(duration)).toEqual(['0.2 s', '3.1 s', '42 s', '3 min 5 s', '2 h 4 min']);
    expect([0.1, 4.2].map(roughly)).toEqual(['1 s', '4 s']);
    expect([42, 3723, -1].map(clock)).toEqual(['0:42', '1:02:03', '0:00']);
  });

  it('counts, sizes and money', () => {
    expect([999, 1200, 76_000, 200_000, 1_250_000].map(tokens)).toEqual(['999', '1.2k', '76k', '200k', '1.3M']);
    expect([money({ amount: 0.12, currency: 'USD' }), money({ amount: 0.0012, currency: 'USD' }), money({ amount: 1, currency: 'EUR' })]).toEqual(['$0.12', '$0.0012', '1.00 EUR']);
    expect([bytes(12), bytes(1234), bytes(2_500_000)]).toEqual(['12 B', '1.2 kB', '2.5 MB']);
    expect([plural(1, 'line'), plural(2000, 'line')]).toEqual(['1 line', '2,000 lines']);
  });
});

describe('paths', () => {
  const roots = { cwd: '/home/user/project', additional_directories: ['/data'] };

  it.each([
    ['/home/user/project/src/a.py', 'src/a.py', null],
    ['/home/user/project', '.', null],
    ['/data/x', '/data/x', null],
    ['/home/user/project2/a.py', '/home/user/project2/a.py', 'outside the session’s directories'],
    ['/home/user/project/../.ssh/id', '/home/user/project/../.ssh/id', 'outside the session’s directories'],
    ['x.py', 'x.py', 'not an absolute path'],
    ['file:///x', 'file:///x', 'not an absolute path']
  ])('%s', (path, short, trouble) => {
    expect(fromCwd(path, roots.cwd)).toBe(short);
    expect(pathTrouble(path, roots)).toBe(trouble);
  });
});

describe('tool input', () => {
  it.each([
    ['{"command":"make clean","cwd":"/x"}', 'make clean', '/x'],
    ['{"cmd":["bash","-lc","echo it\'s"]}', "bash -lc 'echo it'\\''s'", null],
    ['{"command":"git","args":["log","--format=%h %s"]}', "git log '--format=%h %s'", null],
    ['"just text"', null, null],
    ['{"command":12}', null, null],
    ['{broken', null, null]
  ])('%s', (raw, command, cwd) => {
    expect(toolInput(raw)).toMatchObject({ command, cwd });
  });

  it('a url', () => expect(toolInput('{"url":"https://x.org"}').url).toBe('https://x.org'));
});
