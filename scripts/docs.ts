/**
 * `npm run docs:build` and `npm run docs:dev`: the documentation site of `site/`. Its packages have a lockfile of their own, and are
 * installed when they are missing or older than the lockfile; after that, a build needs no network.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const site = join(import.meta.dirname, '../site')
const [mode = 'build', ...rest] = process.argv.slice(2)

/** Whether node_modules has the versions of the lockfile: npm keeps its own copy of what it installed. */
function isInstalled(): boolean {
  const installed = join(site, 'node_modules/.package-lock.json')
  if (!existsSync(installed)) return false
  type Lock = { readonly packages: Readonly<Record<string, { readonly version?: string }>> }
  const read = (path: string): Lock => JSON.parse(readFileSync(path, 'utf8')) as Lock
  const wanted = read(join(site, 'package-lock.json')).packages
  return Object.entries(read(installed).packages).every(([path, { version }]) => wanted[path]?.version === version)
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: site, stdio: ['ignore', 'inherit', 'inherit'] })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}

/** A program of the site's packages, run by this Node. */
function runTool(path: string, ...args: string[]): void {
  run(process.execPath, [join(site, 'node_modules', path), ...args])
}

if (mode !== 'build' && mode !== 'dev') {
  console.error(`Unknown mode ${mode}: use build or dev.`)
  process.exit(2)
}
if (!isInstalled()) run('npm', ['ci', '--no-fund', '--no-audit'])
rmSync(join(site, 'sdk'), { recursive: true, force: true })
runTool('typedoc/bin/typedoc', '--options', 'typedoc.config.mjs')
runTool('vitepress/bin/vitepress.js', mode, ...rest)
