// Build the gallery into `gallery/dist`, a page to look at without a kernel.
import { copyFile, mkdir } from 'node:fs/promises';
import { build } from 'esbuild';
import { common } from '../esbuild.config.mjs';

await mkdir('gallery/dist', { recursive: true });
await build({ ...common, format: 'iife', entryPoints: ['gallery/main.ts'], outfile: 'gallery/dist/main.js' });
await copyFile('gallery/index.html', 'gallery/dist/index.html');
console.log('open gallery/dist/index.html');
