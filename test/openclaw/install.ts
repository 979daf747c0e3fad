/**
 * The gateway program, installed by npm when it is first needed: 650 MB, so it is not a dependency. It is kept
 * in a folder of the system's temporary directory, and none of its install scripts is run.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const version = '2026.9.6'

const folder = join(tmpdir(), `parley-openclaw-${version}`)
const program = join(folder, 'node_modules/openclaw/openclaw.mjs')

/** The path of the program, or why it is unavailable. */
export async function installOpenclaw(): Promise<{ readonly program: string } | { readonly missing: string }> {
  if (existsSync(program)) return { program }
  const fresh = `${folder}-${process.pid}`
  try {
    await mkdir(fresh, { recursive: true })
    await writeFile(join(fresh, 'package.json'), '{ "private": true }')
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `openclaw@${version}`]
    await promisify(execFile)('npm', args, { cwd: fresh, timeout: 600_000 })
    // A concurrent installation has the same result.
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }))
    return { program }
  } catch (cause) {
    await rm(fresh, { recursive: true, force: true })
    return { missing: `openclaw@${version} cannot be installed: ${String(cause).split('\n', 1)[0]}` }
  }
}
