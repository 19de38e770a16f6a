import { describe, expect, it } from 'vitest';
import { MarkdownText } from '../src/markdown/blocks';
import { sanitize } from '../src/markdown/sanitize';

function html(text: string): string {
  return new MarkdownText().update(text).map(block => block.html).join('\n');
}

describe('the sanitiser', () => {
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

  it.each(nasty.map(text => [text]))('disarms %s', text => {
    const el = document.createElement('div');
    el.innerHTML = html(text);
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
    ['<img src="https://tracker.example/x.gif" alt="logo">'],
    ['![logo](//tracker.example/x)'],
    ['![logo](x.png)'],
    ['![logo](data:image/svg+xml;base64,PHN2Zz4=)'],
    ['<img srcset="http://127.0.0.1:9/x.png 2x">']
  ])('never fetches: %s', text => {
    const el = document.createElement('div');
    el.innerHTML = html(text);
    expect(el.querySelector('img')).toBeNull();
    expect(el.textContent).toContain('image:');
  });

  it('shows raster data, and the address of what it does not show', () => {
    expect(html('![dot](data:image/png;base64,iVBORw0KGgo=)')).toContain('<img');
    const link = document.createElement('div');
    link.innerHTML = html('![logo](http://127.0.0.1:9/x.png)');
    expect(link.textContent?.trim()).toBe('logo (image: http://127.0.0.1:9/x.png)');
    expect(link.querySelector('a')?.rel).toContain('noopener');
  });

  it('links say where they lead, and only go to the web or the post', () => {
    const el = document.createElement('div');
    el.innerHTML = html('[a](https://example.org) [b](javascript:alert(1)) [c](src/x.py) [d](mailto:a@b.c) [e](#x)');
    const links = [...el.querySelectorAll('a')];
    expect(links.map(link => link.getAttribute('href'))).toEqual(['https://example.org/', null, null, 'mailto:a@b.c', null]);
    expect(links[0]).toMatchObject({ target: '_blank', title: 'https://example.org/' });
  });

  it('colours code by our own classes only', () => {
    expect(html('```python\ndef f(): pass\n```')).toContain('hljs-keyword');
    expect(html('```js\nconst a = 1\n```')).toContain('hljs-keyword');
    expect(sanitize('<span class="hljs-string jp-Dialog acp-stop">x</span>')).toBe('<span class="hljs-string">x</span>');
    expect(html('```nolang\n<b>&</b>\n```')).toContain('&lt;b&gt;&amp;&lt;/b&gt;');
  });
});
