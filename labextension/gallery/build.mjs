// Build the gallery into `gallery/dist`, a page to look at without a kernel.
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import { build } from 'esbuild';
import { common } from '../esbuild.config.mjs';

// what examples/gallery.ipynb shows, and the same here
const exhibits = execFileSync(process.env.PYTHON ?? 'python3', ['../examples/gallery.py'], {
  encoding: 'utf8',
  env: { ...process.env, PYTHONPATH: '..' },
  maxBuffer: 2 ** 26
});
await mkdir('gallery/dist', { recursive: true });
await build({
  ...common,
  format: 'iife',
  entryPoints: ['gallery/main.ts'],
  outfile: 'gallery/dist/main.js',
  define: { ...common.define, EXHIBITS: exhibits }
});
await copyFile('gallery/index.html', 'gallery/dist/index.html');
console.log('open gallery/dist/index.html');
