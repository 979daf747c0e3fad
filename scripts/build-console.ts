/** Builds the console into the hub, unless the existing build has the same sources. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const stamp = join(root, 'packages/hub/console/made-of.txt')

/** By content: file times of a checkout are arbitrary. */
function hashSources(): string {
  const files = globSync(
    [
      'packages/console/{src,public}/**/*.*',
      'packages/console/*.*',
      'packages/a2a/src/*.ts',
      'packages/a2a/src/{client,model,versions,bindings}/**/*.ts',
      'package-lock.json',
    ],
    { cwd: root },
  )
  const hash = createHash('sha256')
  for (const file of files.sort())
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

export async function buildConsole(): Promise<void> {
  const made = hashSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === made) return
  // Loaded only now: Vite takes longer to load than the hub.
  const { build } = await import('vite')
  await build({ configFile: join(root, 'packages/console/vite.config.ts'), logLevel: 'warn' })
  writeFileSync(stamp, made)
}

if (import.meta.main) await buildConsole()
