/** Bun for the tests: of npm, installed once into a cache of the user. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const version = '1.4.4'

export function findBun(): { readonly bun: string } | { readonly missing: string } {
  const folder = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'parley-tests', `bun-${version}`)
  const bun = join(folder, 'node_modules/.bin/bun')
  // An installation that was interrupted does not run.
  const runs = (): boolean => spawnSync(bun, ['--version'], { encoding: 'utf8' }).stdout?.trim() === version
  if (runs()) return { bun }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const options = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--save-exact', `bun@${version}`]
  const { status } = spawnSync('npm', options, { cwd: folder, stdio: 'ignore' })
  return runs() ? { bun } : { missing: `npm cannot install bun@${version} (exit code ${String(status)})` }
}
