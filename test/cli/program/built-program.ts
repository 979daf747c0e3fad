/**
 * The program `a2a` as the package ships it: bundled, because its start from the sources takes a second of CPU time. It is built once
 * for a state of the sources, also if several test processes need it at the same time.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../../..')
const cache = join(root, 'node_modules/.cache/parley-cli-program')
let built: string | undefined

/** The command that runs it, without arguments. */
export function builtProgram(): readonly string[] {
  built ??= buildProgram()
  return [process.execPath, join(built, 'dist/main.js')]
}

function buildProgram(): string {
  const folder = join(cache, stateOfSources())
  if (existsSync(folder)) return folder
  const draft = `${folder}-${process.pid}`
  mkdirSync(draft, { recursive: true })
  copyFileSync(join(root, 'packages/cli/package.json'), join(draft, 'package.json'))
  const args = [join(root, 'scripts/bundle-cli.ts'), join(draft, 'dist')]
  execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  try {
    renameSync(draft, folder)
  } catch {
    // Another process was faster.
    rmSync(draft, { recursive: true, force: true })
  }
  for (const name of readdirSync(cache)) {
    const other = join(cache, name)
    if (other !== folder && Date.now() - statSync(other).mtimeMs > 3_600_000)
      rmSync(other, { recursive: true, force: true })
  }
  return folder
}

function stateOfSources(): string {
  const hash = createHash('sha256')
  const sources = globSync(['packages/{cli,a2a}/{src/**/*.ts,package.json}', '.agents/**/*.md'], {
    cwd: root,
  }).toSorted()
  for (const file of ['scripts/bundle-cli.ts', ...sources]) {
    const { mtimeMs, size } = statSync(join(root, file))
    hash.update(`${file} ${mtimeMs} ${size}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}
