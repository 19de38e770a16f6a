// What all bundles share: preact's JSX, a style sheet as its minified text, and of marked what we use.
import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const cssText = {
  name: 'css-text',
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const css = await build({ entryPoints: [path], bundle: true, minify: true, write: false });
      return { contents: css.outputFiles[0].text, loader: 'text' };
    });
  }
};

/** The class `Marked` and its one instance end the file; a bundler cannot see that nobody uses them: 1.7 kB gzipped. */
const markedParts = {
  name: 'marked-parts',
  setup(builder) {
    builder.onLoad({ filter: /marked\.esm\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf-8');
      const nameOf = exported => new RegExp(`([\\w$]+) as ${exported}[,}]`).exec(text.slice(text.lastIndexOf('export{') + 7))?.[1];
      const end = text.indexOf(`var ${nameOf('Marked')}=class`);
      if (end < 0) throw new Error('marked is built otherwise than it was: see markedParts in esbuild.config.mjs');
      const parts = ['Lexer'].map(part => `${nameOf(part)} as ${part}`);
      return { contents: `${text.slice(0, end)};export{${parts}}`, loader: 'js' };
    });
  }
};

export const common = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  plugins: [cssText, markedParts]
};
