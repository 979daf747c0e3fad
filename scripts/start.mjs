/**
 * `npm start`: builds the console if its sources changed, and runs the hub from its sources. Plain JavaScript, because it turns
 * the compile cache on before the first TypeScript file loads: a second start then neither loads the compiler of Node that
 * removes types nor parses a file again. Node compares the content of each file, so an edit takes effect at the next start.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/parley'))

const { buildConsole } = await import('./build-console.ts')
await buildConsole()
await import('../packages/hub/src/cli/main.ts')
