/**
 * An agent in a file: TypeScript or JavaScript that exports a function, an agent, or an agent with what its card says. It
 * runs in the hub's own process, and is loaded anew when the file changes.
 */
import { resolve } from 'node:path'
import { z } from 'zod'
import { nonEmpty } from '../../config/values.ts'
import type { AgentKind } from '../kind.ts'
import { readExport } from './exported.ts'
import { loadModule } from './load.ts'
import { packageScopeOf } from './package-scope.ts'
import { withTools } from './with-tools.ts'

const schema = z.strictObject({
  path: nonEmpty.meta({ description: 'The file, TypeScript or JavaScript.' }),
  export: nonEmpty.optional().meta({ description: 'Which of its exports is the agent. Default: default, else agent.' }),
})

export const moduleKind: AgentKind<z.output<typeof schema>> = {
  kind: 'module',
  schema,
  async open(entry, { baseDir, log, house, now }) {
    const file = resolve(baseDir, entry.path)
    const { agent, card, ignored } = readExport(await loadModule(file, entry.path), entry.export, entry.path)
    if (ignored.length > 0) {
      log.warn(`${entry.path} says ${ignored.join(', ')}, which only the configuration can say`)
    }
    return { agent: withTools(agent, house, now), card }
  },
  files(entry, baseDir) {
    const file = resolve(baseDir, entry.path)
    const scope = packageScopeOf(file)
    // It may be what keeps the file from loading; one that does not is left alone: dependencies come and go in it.
    return scope?.type === 'commonjs' ? [file, scope.file] : [file]
  },
}
