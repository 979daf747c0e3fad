/**
 * An agent in a file: TypeScript or JavaScript that exports a function, an agent, an agent of a framework, or one of these with
 * card fields. It runs in the hub's process and is loaded again when the file changes.
 */
import { resolve } from 'node:path'
import { z } from 'zod'
import { duration, nonEmpty } from '../../config/values.ts'
import type { AgentKind } from '../kind.ts'
import { loadModule } from './load-module.ts'
import { readModuleExport } from './module-export.ts'
import { packageScopeOf } from './package-scope.ts'
import { withTools } from './with-tools.ts'

const schema = z.strictObject({
  path: nonEmpty.describe('The file, TypeScript or JavaScript.'),
  export: nonEmpty.optional().describe('Which of its exports is the agent. Default: default, else agent.'),
  openAfter: duration
    .optional()
    .describe(
      'When its tasks open at the latest. With 0s the message is durable before the agent runs. Default 250ms.',
    ),
})

export const moduleKind: AgentKind<z.output<typeof schema>> = {
  kind: 'module',
  schema,
  async open(entry, services) {
    const { baseDir, log, inProcessClient, now } = services
    const file = resolve(baseDir, entry.path)
    const exported = readModuleExport(await loadModule(file, entry.path), entry.export, entry.path)
    const { agent: given, card, ignored } = exported
    if (ignored.length > 0) {
      log.warn(`${entry.path} exports ${ignored.join(', ')}, which only the configuration can set`)
    }
    const shared = { card, openAfterMs: entry.openAfter }
    if (!('framework' in given)) return { agent: withTools(given, inProcessClient, now), ...shared }
    const { framework, value } = given
    const { adaptFramework, frameworkTitles } = await import('./adapt-framework.ts')
    const agent = await adaptFramework(framework, value, file, services)
    log.info(
      `${entry.path} exports an agent of ${frameworkTitles[framework]}, run by @parley/a2a/adapters/${framework}`,
    )
    return { agent: withTools(agent, inProcessClient, now), ...shared }
  },
  files(entry, baseDir) {
    const file = resolve(baseDir, entry.path)
    const scope = packageScopeOf(file)
    // A CommonJS package.json may prevent the file from loading, so it is watched. Any other is not, because its
    // dependencies change often.
    return scope?.type === 'commonjs' ? [file, scope.file] : [file]
  },
}
