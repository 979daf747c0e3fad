/**
 * `npm install` and `npx` of a page under test: packages come from this repository instead of a registry, as links. Every other
 * command of npm is npm's own.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const modules = join(import.meta.dirname, '../../node_modules')
/** Packages whose folder in this repository has another name. */
const folders: Readonly<Record<string, string>> = { '@a2a-js/sdk': 'a2a-sdk-1' }
/** Programs that a page runs with npx. */
const programs: Readonly<Record<string, string>> = {
  '@parley/cli': join(modules, '@parley/cli/src/main.ts'),
  '@parley/hub': join(modules, '@parley/hub/src/cli/main.ts'),
  '@agentclientprotocol/claude-agent-acp': resolve(import.meta.dirname, '../agents/programs/acp-agent.ts'),
}

const [tool = '', ...args] = process.argv.slice(2)
const names = args.filter((arg) => !arg.startsWith('-'))

if (tool === 'npx') process.exitCode = runProgram()
else if (names[0] === 'install') for (const name of names.slice(1)) install(name)
else process.exitCode = run(process.env['PARLEY_PAGE_NPM'] ?? 'npm', args)

function runProgram(): number {
  const at = args.findIndex((arg) => arg in programs)
  const program = programs[args[at] ?? '']
  if (program === undefined) throw new Error(`no program of this repository is ${args.join(' ')}`)
  return run(process.execPath, [program, ...args.slice(at + 1)])
}

/** Signals of the terminal reach the program itself: this process only waits for it. */
function run(command: string, own: readonly string[]): number {
  process.on('SIGINT', () => {})
  return spawnSync(command, own, { stdio: 'inherit' }).status ?? 1
}

function install(spec: string): void {
  const name = spec.replace(/(?<=.)@.*$/, '')
  const from = join(modules, folders[name] ?? name)
  if (!existsSync(from)) throw new Error(`${name} is not installed in this repository`)
  const to = resolve('node_modules', name)
  mkdirSync(dirname(to), { recursive: true })
  if (!existsSync(to)) symlinkSync(from, to)
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies?: Record<string, string> }
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { version: string }
  const dependencies = { ...manifest.dependencies, [name]: `^${version}` }
  writeFileSync('package.json', `${JSON.stringify({ ...manifest, dependencies }, undefined, 2)}\n`)
}
