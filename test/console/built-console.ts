/** The console built from the working tree: once for all files of the suite, or by a file that runs alone. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '../..')
const variable = 'PARLEY_BUILT_CONSOLE'

/** For the processes that this one starts. */
export async function shareConsole(folder: string): Promise<void> {
  await buildInto(folder)
  process.env[variable] = folder
}

/** Its folder: never that of the hub, so that concurrent builds do not interfere. */
export async function builtConsole(): Promise<URL> {
  const shared = process.env[variable]
  if (shared !== undefined) return pathToFileURL(`${shared}/`)
  const folder = await mkdtemp(join(tmpdir(), 'parley-console-'))
  after(() => rm(folder, { recursive: true, force: true }))
  await buildInto(folder)
  return pathToFileURL(`${folder}/`)
}

async function buildInto(outDir: string): Promise<void> {
  // Imported late: a file with the shared build needs no bundler.
  const { build } = await import('vite')
  const { NODE_ENV } = process.env
  await build({ configFile: join(root, 'packages/console/vite.config.ts'), logLevel: 'error', build: { outDir } })
  // It sets "production", which must not leak to child processes.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV']
}
