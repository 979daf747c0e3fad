/** Builds the console into the files that the hub serves. */
import { defineConfig, type Plugin } from 'vite'

/** The styles of a page stay loaded after the user leaves it, so each of their rules applies to that page only (app/app.tsx). */
const scopePageStyles: Plugin = {
  name: 'scope-page-styles',
  enforce: 'pre',
  transform(code, id) {
    const page = /\/src\/pages\/(?!sign-in)([^/]+)\/[^?]*\.css$/.exec(id)?.[1]
    if (page === undefined) return undefined
    const [layer, rules] = code.split(/(?<=^@layer pages \{)/)
    if (rules === undefined) throw new Error(`${id}: the styles of a page begin with @layer pages`)
    return { code: `${layer} :where([data-page='${page}']) {${rules}}`, map: null }
  },
}

// Vite reads its settings from a default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: 'public',
  plugins: [scopePageStyles],
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
