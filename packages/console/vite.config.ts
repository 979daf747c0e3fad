/** Builds the console into the files that the hub serves. */
import { defineConfig, type Plugin } from 'vite'
import { pageNames } from './src/app/page-route.ts'

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

/** Tells the hub under which paths it serves the console (packages/hub/src/console/console-routes.ts). */
const pageManifest: Plugin = {
  name: 'page-manifest',
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'pages.json', source: JSON.stringify(pageNames) })
  },
}

/** What two or three pages share and would be many chunks of less than two kilobytes; not what is large and needed by few. */
const smallParts =
  /\/a2a\/src\/model\/(id|secrets|state|struct)\.ts|\/console\/src\/(api|agent\/failure|components\/(?!editor|stats|content\/(highlight|languages|render)|diff\/line))/

/** The client of the playground is many chunks with a common part, and no other page needs that. */
const notOfClient = /^(?!.*\/a2a\/src\/(versions|client)\/)/

// Vite reads its settings from a default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  publicDir: 'public',
  plugins: [scopePageStyles, pageManifest],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  resolve: { conditions: ['parley-source', 'module', 'browser'] },
  build: {
    outDir: '../hub/console',
    emptyOutDir: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // Chunks by page: a page needs its own script, and few that it shares with others. By default there were 48 requests for the
    // tasks, many of them for less than a kilobyte. One file of styles for all pages is 5 kB more than those of one page.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'frame', test: /\/console\/src\/main\.tsx$/, priority: 4 },
            { name: 'shared', test: notOfClient, minShareCount: 4, priority: 3 },
            { name: 'parts', test: smallParts, minShareCount: 2, priority: 2 },
            {
              name: 'conversation',
              test: /\/src\/(conversation\/(?!question\/(question-form|field-input|auth-note))|api\/task-events)/,
              minShareCount: 2,
              priority: 1,
            },
          ],
        },
      },
    },
    // The policy of the page allows no data: styles or scripts, and small files are as quick.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
})
