import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    alias: [{ find: /^@jupyterlab\/(application|apputils|coreutils|notebook|statusbar)$/, replacement: fileURLToPath(new URL('test/jupyterlab.ts', import.meta.url)) }]
  },
  test: { environment: 'jsdom', setupFiles: ['test/setup.ts'], include: ['test/**/*.test.{ts,tsx}'], css: { include: [/\.css\?raw$/] } }
});
