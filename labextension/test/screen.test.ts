// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { Screen, type Line } from '../src/terminal/screen';
import { PLAIN, sgr } from '../src/terminal/sgr';

function screen(output: string): Screen {
  const one = new Screen();
  one.update(output);
  return one;
}

function texts(one: Screen): string[] {
  const lines: Line[] = [...one.chunks.flat(), ...(one.current ? [one.current] : [])];
  return lines.map(line => line.map(span => span.text).join(''));
}

describe('screen', () => {
  it.each([
    ['a progress bar ends as one line', '10%\r20%\r100%\n', ['100%']],
    ['an erased line', '----\rHello \u001b[K\n', ['Hello ']],
    ['a shorter text over a longer one', 'abcdef\rxy\n', ['xycdef']],
    ['backspaces', 'abc\b\bX\n', ['aXc']],
    ['CRLF is no overwriting', 'one\r\ntwo\r\n', ['one', 'two']],
    ['titles and links leave no trace', '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\b\n', ['ab']],
    ['cursor to a column', 'abc\u001b[1GX\u001b[2CY\n', ['XbcY']],
    ['a line under way', 'a\nb', ['a', 'b']],
    ['an empty line', 'a\n\nb\n', ['a', '', 'b']],
    ['bells and other controls', 'a\u0007\u0000b\n', ['ab']],
    ['markup is text', '<script>alert(1)</script></pre>\n', ['<script>alert(1)</script></pre>']]
  ])('%s', (_name, output, expected) => {
    expect(texts(screen(output))).toEqual(expected);
  });

  it('reads colours, over lines too', () => {
    const [first, second] = screen('\u001b[31mred\nstill\u001b[0m plain\n').chunks.flat();
    expect(first).toMatchObject([{ text: 'red', style: { fg: 'var(--acp-ansi-1)' } }]);
    expect(second).toMatchObject([{ text: 'still', style: { fg: 'var(--acp-ansi-1)' } }, { text: ' plain', style: { fg: null } }]);
  });

  it('is the same however the output is cut', () => {
    const output = 'a\u001b[1;32mgreen\u001b[0m\r\n10%\r99%\r100%\nx\b\u001b[38;5;208mo\u001b[Krange\n\u001b]0;t\u0007end';
    const whole = screen(output);
    for (let cut = 0; cut <= output.length; cut++) {
      const parts = screen(output.slice(0, cut));
      expect(parts.update(output)).toBe(true);
      expect([parts.chunks.flat(), parts.current]).toEqual([whole.chunks.flat(), whole.current]);
    }
  });

  it('sees that an output is another one', () => {
    const one = screen('first output\n');
    expect(one.update('second')).toBe(false);
    expect(one.update('other, and longer than it\n')).toBe(false);
  });

  it('stays cheap: 10,000 lines, and a progress bar of a megabyte', () => {
    const one = new Screen();
    let output = '';
    for (let i = 0; i < 10_000; i++) {
      output += `\u001b[32m.\u001b[0m test ${i} passed with a line of ordinary length\n`;
      if (i % 100 === 0) one.update(output);
    }
    one.update(output);
    expect(one.lines).toBe(10_000);
    let bar = '';
    const busy = new Screen();
    for (let i = 0; i < 300; i++) busy.update((bar += '#'.repeat(3000) + '\r'));
    busy.update(`${bar}done`);
    expect(texts(busy)[0]?.startsWith('done')).toBe(true);
  });
});

describe('sgr', () => {
  it.each([
    ['1;31', { bold: true, fg: 'var(--acp-ansi-1)' }],
    ['38;5;208', { fg: 'rgb(255,135,0)' }],
    ['48;5;244', { bg: 'rgb(128,128,128)' }],
    ['38;2;1;2;3;4', { fg: 'rgb(1,2,3)', underline: true }],
    ['97;100', { fg: 'var(--acp-ansi-15)', bg: 'var(--acp-ansi-8)' }],
    ['38;5;999', { fg: null }],
    ['38;2;1;2', { fg: null }],
    ['', PLAIN]
  ])('%s', (parameters, expected) => {
    expect(sgr(PLAIN, parameters)).toMatchObject(expected);
  });
});
