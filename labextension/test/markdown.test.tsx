import { render } from 'preact';
import { describe, expect, it } from 'vitest';
import { Markdown } from '../src/card/markdown';

function drawn(text: string): HTMLElement {
  const el = document.createElement('div');
  render(<Markdown text={text} />, el);
  return el;
}

function html(text: string): string {
  return drawn(text).innerHTML;
}

describe('Markdown', () => {
  const nasty = [
    '<script>window.PWN=1</script>',
    '<img src=x onerror="window.PWN=1">',
    '<svg onload="window.PWN=1"><script>1</script></svg>',
    '<iframe src="javascript:1"></iframe><object data=x></object><embed src=x>',
    '<form action="https://evil"><input name=a><button>Allow</button></form>',
    '<style>*{display:none}</style><link rel=stylesheet href="//evil"><meta http-equiv=refresh content=0>',
    '<a href="java\nscript:alert(1)">x</a><a href="data:text/html,x">y</a><a href="vbscript:x">z</a>',
    '<p style="position:fixed;inset:0" id="x" name="y" onclick="1">over</p>',
    '<math><mtext><table><mglyph><style><img src=x onerror=1>',
    '<video poster="http://127.0.0.1:9/x" src="http://127.0.0.1:9/y"></video><picture><source srcset="http://127.0.0.1:9/z"></picture>',
    '<table background="http://127.0.0.1:9/x"><tr><td>cell</table>',
    '<div class="acp-permission"><button data-option-id="a">Allow</button></div>'
  ];

  it.each(nasty.map(text => [text]))('M03 shows %s as words', text => {
    const el = drawn(text);
    expect(el.textContent?.replace(/\s+/g, '')).toBe(text.replace(/\s+/g, ''));
    expect(el.querySelector('script,svg,iframe,object,embed,form,input,button,style,link,meta,video,source,math')).toBeNull();
    for (const node of el.querySelectorAll('*')) {
      for (const { name, value } of node.attributes) {
        expect(name).not.toMatch(/^on|^style$|^id$|^name$|^data-|^srcset$|^poster$|^background$/);
        if (name === 'class') expect(value).not.toContain('acp-permission');
        if (name === 'href') expect(value).toMatch(/^(https?|mailto):/);
      }
    }
  });

  it.each([
    ['![logo](http://127.0.0.1:9/x.png)'],
    ['![logo](//tracker.example/x)'],
    ['![logo](x.png)'],
    ['![logo](data:image/svg+xml;base64,PHN2Zz4=)']
  ])('M03 never fetches: %s', text => {
    const el = drawn(text);
    expect(el.querySelector('img')).toBeNull();
    expect(el.textContent).toContain('image:');
  });

  it('shows raster data, and the address of what it does not show', () => {
    expect(html('![dot](data:image/png;base64,iVBORw0KGgo=)')).toContain('<img');
    const link = drawn('![logo](http://127.0.0.1:9/x.png)');
    expect(link.textContent?.trim()).toBe('logo (image: http://127.0.0.1:9/x.png)');
    expect(link.querySelector('a')?.rel).toContain('noopener');
  });

  it('links say where they lead, and only go to the web or the post', () => {
    const el = drawn('[a](https://example.org) [b](javascript:alert(1)) [c](src/x.py) [d](mailto:a@b.c) [e](#x)');
    const links = [...el.querySelectorAll('a')];
    expect(links.map(link => link.getAttribute('href'))).toEqual(['https://example.org/', null, null, 'mailto:a@b.c', null]);
    expect(links[0]).toMatchObject({ target: '_blank', title: 'https://example.org/' });
  });

  it('colours code by our own classes only', () => {
    expect(html('```python\ndef f(): pass\n```')).toContain('hljs-keyword');
    expect(html('```js\nconst a = 1\n```')).toContain('hljs-keyword');
    expect(drawn('```nolang\n<b>&</b>\n```').querySelector('code')?.innerHTML).toBe('&lt;b&gt;&amp;&lt;/b&gt;');
    const code = 'def f(x: int) -> str:\n    """Say."""\n    return f"{x!r} <b>" # done\n';
    expect(drawn(`\`\`\`python\n${code}\`\`\``).textContent).toBe(code.trimEnd());
  });

  it('plain tags in pairs, line breaks and character references are read; all other HTML is words', () => {
    expect(drawn('H<sub>2</sub>O <kbd>A</kbd><br>x &amp; y &lt;b&gt; \\* &nosuch;').querySelector('p')?.innerHTML).toBe(
      'H<sub>2</sub>O <kbd>A</kbd><br>x &amp; y &lt;b&gt; * &amp;nosuch;'
    );
    expect(drawn('a <b>never closed').textContent).toBe('a <b>never closed');
    expect(drawn('a <b class="acp-permission">x</b>').querySelector('b')).toBeNull();
    expect(drawn('<details><summary>s</summary>\n\ninner').textContent).toContain('<details>');
  });

  it('lists, tasks, tables and headings', () => {
    const el = drawn('# T\n\n3. a\n4. b\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|--:|\n| `1` | **2** |\n\n> q\n\n---\n');
    expect([...el.querySelectorAll('.acp-md-block')].map(block => block.innerHTML)).toEqual([
      '<h1>T</h1>',
      '<ol start="3"><li>a</li><li>b</li></ol>',
      '<ul><li><span class="acp-task acp-task-done">☑ </span>done</li><li><span class="acp-task">☐ </span>open</li></ul>',
      '<table><thead><tr><th>a</th><th align="right">b</th></tr></thead><tbody><tr><td><code>1</code></td><td align="right"><strong>2</strong></td></tr></tbody></table>',
      '<blockquote><p>q</p></blockquote>',
      '<hr>'
    ]);
  });

  it('M01 an open fence is code to its end', () => {
    const el = drawn('```sh\necho $1\n# never **closed** <b>x</b>');
    expect(el.querySelector('pre')?.textContent).toBe('echo $1\n# never **closed** <b>x</b>');
    expect(el.querySelector('b')).toBeNull();
  });
});
