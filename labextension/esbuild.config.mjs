// What all bundles share: preact's JSX, and a style sheet as its minified text.
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

export const common = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  plugins: [cssText]
};
