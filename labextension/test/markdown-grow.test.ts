// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { MarkdownText, type MarkdownBlock } from '../src/markdown/blocks';

function tokens(blocks: MarkdownBlock[]): unknown[] {
  return blocks.map(block => block.token);
}

const SAMPLES = [
  '# A heading\n\nA *paragraph* with **bold** and `code`,\nover two lines.\n\nAnother.\n',
  'before\n\n```python\nx = "$1"\n\ny = 2\n```\n\nafter **all**',
  '- one\n- two\n\n  still two\n\n- three\n\n1. a\n\n2. b\n\ntext\n',
  'text\n***bold*** text\n\nSetext\n===\n\nline\n---\n',
  '| a | b |\n|---|--:|\n| 1 | 2 |\n\n> quote\nlazy\n\n    indented code\n\n    more of it\n\nend 👩‍💻 emoji',
  'see [the docs][d] and [d]\n\nmore\n\n[d]: https://example.org/x\n\nlast [d]\n',
  'a\r\n\r\nb\r\nc\r\n\r\n- d\r\n- e\r\n',
  '- [x] done\n- [ ] open\n\n<details><summary>s</summary>\n\ninner\n\n</details>\n\nafter\n',
  'an open fence\n\n```sh\necho $1\nnever closed'
];

describe('growing Markdown', () => {
  it.each(SAMPLES.map(sample => [sample]))('M05 %j: cut anywhere, it ends as if read at once', sample => {
    const whole = tokens(new MarkdownText().update(sample));
    for (let cut = 0; cut <= sample.length; cut++) {
      const text = new MarkdownText();
      text.update(sample.slice(0, cut));
      expect(tokens(text.update(sample))).toEqual(whole);
    }
    const growing = new MarkdownText();
    for (let cut = 0; cut < sample.length; cut++) growing.update(sample.slice(0, cut));
    expect(tokens(growing.update(sample))).toEqual(whole);
  });

  it('keeps finished blocks as they are', () => {
    const text = new MarkdownText();
    const before = text.update('first\n\nsecond\n\nthird gro');
    const after = text.update('first\n\nsecond\n\nthird grows');
    expect(after.map((block, i) => block === before[i])).toEqual([true, true, false]);
  });

  it('M06 reads and draws only the end, however long it gets', () => {
    const text = new MarkdownText();
    let source = '';
    let before = text.update(source);
    for (let i = 0; i < 4000; i++) {
      const after = text.update((source += i % 20 === 19 ? 'end.\n\n' : 'word '));
      expect(after.filter((block, index) => block !== before[index]).length).toBeLessThanOrEqual(1);
      before = after;
    }
    expect(before).toHaveLength(200);
  });

  it('starts anew where the text is another one', () => {
    const text = new MarkdownText();
    text.update('one\n\ntwo\n\nthree\n');
    expect(text.update('other').map(block => block.source)).toEqual(['other']);
  });
});
