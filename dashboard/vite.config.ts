// How the dashboard is built, and served during development: `npx vite dashboard`, next to `npm start`.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vite';
import { guides } from './build/guides.ts';
import { palette } from './build/palette.ts';

const { version } = JSON.parse(readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string;
};

const apiUrl = 'http://127.0.0.1:8080';

// oxlint-disable-next-line import/no-default-export -- Vite reads it
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  plugins: [guides(), palette()],
  define: { __ALMANAC_VERSION__: JSON.stringify(version) },
  // The policy of the gateway allows no inline code: no polyfill, no file as a data: URL.
  build: {
    outDir: path.join(import.meta.dirname, '.build/by-hand'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: ['chrome125', 'firefox125', 'safari17.5'],
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name]-[hash].js',
        chunkFileNames: 'assets/[name]-[hash].js',
        assetFileNames: 'assets/[name]-[hash][extname]',
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  server: { proxy: { '/v1': apiUrl, '/auth': apiUrl } },
});
