/**
 * `npm start` and `npm run parley`: runs the hub from its sources, and for `up` builds the console if its sources changed. Plain JavaScript, because it turns
 * the compile cache on before the first TypeScript file loads: a second start then neither loads Node's type stripper
 * nor parses a file again. The call in main.ts then has no effect. Node compares the content of each file, so an edit takes effect at the next start.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/parley'))

const [command = 'up'] = process.argv.slice(2)
if (command === 'up' || command.startsWith('-')) {
  const { buildConsole } = await import('./build-console.ts')
  // The build sets it for its own process, which is the hub's here.
  const { NODE_ENV } = process.env
  await buildConsole()
  if (NODE_ENV === undefined) delete process.env.NODE_ENV
  else process.env.NODE_ENV = NODE_ENV
}
await import('../packages/hub/src/cli/main.ts')
