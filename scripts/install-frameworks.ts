/**
 * `node scripts/install-frameworks.ts`: installs the packages of `test/frameworks`, which have a lockfile of their own: together they
 * take 710 MB, so `npm ci` leaves them out. Does nothing if they are installed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../test/frameworks')

type Lock = { readonly packages: Readonly<Record<string, { readonly version?: string }>> }

/** Whether node_modules has the versions of the lockfile: npm keeps its own copy of what it installed. */
export function areFrameworksInstalled(): boolean {
  const installed = join(folder, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  const read = (path: string): Lock => JSON.parse(readFileSync(path, 'utf8')) as Lock
  const wanted = read(join(folder, 'package-lock.json')).packages
  return Object.entries(read(installed).packages).every(([path, { version }]) => wanted[path]?.version === version)
}

if (import.meta.main && !areFrameworksInstalled()) {
  const { status, error } = spawnSync('npm', ['ci'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error !== undefined) throw error
  process.exitCode = status ?? 1
}
