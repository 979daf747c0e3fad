/**
 * An agent in a file: TypeScript or JavaScript that exports a function, an agent, or an agent with what its card says. It
 * runs in the hub's own process, and is loaded anew when the file changes.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { nonEmpty } from '../../config/values.ts'
import type { AgentKind } from '../kind.ts'
import { readExport } from './exported.ts'

const schema = z.strictObject({
  path: nonEmpty.meta({ description: 'The file, TypeScript or JavaScript.' }),
  export: nonEmpty.optional().meta({ description: 'Which of its exports is the agent. Default: default, else agent.' }),
})

export const moduleKind: AgentKind<z.output<typeof schema>> = {
  kind: 'module',
  schema,
  async open(entry, { baseDir, log }) {
    const file = resolve(baseDir, entry.path)
    const { agent, card, ignored } = readExport(await load(file, entry.path), entry.export, entry.path)
    if (ignored.length > 0) {
      log.warn(`${entry.path} says ${ignored.join(', ')}, which only the configuration can say`)
    }
    return { agent, card }
  },
  files: (entry, baseDir) => [resolve(baseDir, entry.path)],
}

/** Node keeps every module that it has loaded, by its url: another text must have another one. */
async function load(file: string, path: string): Promise<Readonly<Record<string, unknown>>> {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) throw new Error(`there is no file ${path}`)
  return (await import(`${pathToFileURL(file).href}?${stat.mtimeMs}-${stat.size}`)) as Record<string, unknown>
}
