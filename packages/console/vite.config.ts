/** Builds the console into the files that the hub serves. */
import { defineConfig } from 'vite'

// Vite reads its settings from a default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: 'public',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { conditions: ['parley-source', 'module', 'browser'] },
  build: {
    outDir: '../hub/console',
    emptyOutDir: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // The policy of the page allows no data: styles or scripts, and small files are as quick.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
