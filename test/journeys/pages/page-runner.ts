/** Runs a page as a reader would: in an empty folder, command by command, in terminals that stay open. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { guardMs } from '../terminal.ts'
import { freePort } from '../../free-port.ts'
import type { Machine } from '../machine.ts'
import type { Terminal } from '../terminal.ts'
import { assertOutput, hasPrinted } from './match-output.ts'
import type { ExpectedOutput, PageStep } from './page-steps.ts'

export interface PageRunner {
  run(step: PageStep): Promise<void>
  /** The port of this machine that stands for a port on the page. */
  portOf(port: number): number
}

export interface PageRunnerOptions {
  /** The ports that the page uses. */
  readonly ports?: readonly number[]
  /** A page that begins in an existing project: its packages. */
  readonly packages?: readonly string[]
  /** Programs that this machine may not have, as shell scripts by name. */
  readonly standIns?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
}

type CommandStep = Extract<PageStep, { kind: 'command' }>

const preload = join(import.meta.dirname, 'port-map-preload.ts')

export async function openPageRunner(machine: Machine, options: PageRunnerOptions): Promise<PageRunner> {
  const folder = await machine.folder('folder')
  await machine.folder(
    'global/bin',
    mapValues(options.standIns ?? {}, (script) => `#!/bin/sh\n${script}\n`),
  )
  for (const name of Object.keys(options.standIns ?? {})) await chmod(join(machine.home, 'global/bin', name), 0o755)
  const ports = new Map<number, number>()
  for (const port of options.ports ?? [3000, 3001]) ports.set(port, await freePort())
  const env = {
    // Those of the page, which the preload maps.
    PORT: undefined,
    GRPC_PORT: undefined,
    PARLEY_URL: `http://127.0.0.1:${ports.get(3000)}`,
    NODE_OPTIONS: `--import=${pathToFileURL(preload).href}`,
    PARLEY_PAGE_PORTS: [...ports].map((pair) => pair.join('=')).join(','),
    ...options.env,
  }
  const onThisMachine = (text: string): string =>
    [...ports].reduce((all, [port, own]) => all.replaceAll(new RegExp(`(?<=:)${port}\\b`, 'g'), String(own)), text)
  const asOnPage = (text: string): string =>
    [...ports]
      .reduce((all, [port, own]) => all.replaceAll(new RegExp(`(?<=:)${own}\\b`, 'g'), String(port)), text)
      // The last is printed only if something takes longer than a second.
      .replaceAll(/^(npm warn|npm notice|Waiting for task) .*\n/gm, '')

  const main = await machine.terminal(folder, env)
  await main.run('set -a')
  const terminals = new Map<string, Terminal>()
  /** A program that watches a changed file needs a moment, and a reader tries again. */
  let hasChangedFile = false

  async function runToEnd(step: CommandStep): Promise<void> {
    const deadline = performance.now() + guardMs
    for (;;) {
      try {
        let printed = ''
        let hints = ''
        const stderr = join(machine.home, 'stderr')
        for (const command of commandsIn(onThisMachine(step.script))) {
          printed += await main.run(`{ ${command}\n} 2> ${stderr}`)
          hints += readFileSync(stderr, 'utf8')
        }
        if (step.output !== undefined) assertPrinted(asOnPage(printed), asOnPage(hints), step.output)
        hasChangedFile = false
        return
      } catch (error) {
        if (!(hasChangedFile || isRead(step.script)) || performance.now() > deadline) {
          throw Object.assign(error as Error, { terminals: await screens() })
        }
      }
    }
  }

  /** A terminal begins where the main one is: in its folder, with its variables. */
  async function startIn(name: string, { script, output }: CommandStep): Promise<void> {
    const terminal = terminals.get(name) ?? (await machine.terminal(folder, env))
    terminals.set(name, terminal)
    await terminal.interrupt()
    hasChangedFile = false
    const state = join(machine.home, 'state')
    await main.run(`{ export -p; echo "cd '$PWD'"; } > ${state}`)
    const commands = commandsIn(onThisMachine(script))
    const last = commands.pop() ?? ''
    for (const command of [`. ${state}`, ...commands]) await terminal.run(command)
    await terminal.start(last, (screen) => output === undefined || hasPrinted(asOnPage(screen), output))
  }

  const screens = async (): Promise<readonly string[]> =>
    Promise.all([...terminals].map(async ([name, terminal]) => `${name}:\n${asOnPage(await terminal.screen())}`))

  async function writeFile(name: string, content: string): Promise<void> {
    const inside = (await main.run('pwd')).trim()
    hasChangedFile ||= existsSync(join(inside, name))
    await machine.folder(inside.slice(machine.home.length), { [name]: content })
  }

  if (options.packages !== undefined) {
    await writeFile('package.json', '{ "type": "module" }')
    await main.run(`npm install ${options.packages.join(' ')}`)
  }
  return {
    portOf: (port) => ports.get(port) ?? port,
    async run(step) {
      if (step.kind === 'shown') {
        const terminal = terminals.get(step.terminal)
        if (terminal === undefined) throw new Error(`nothing runs in ${step.terminal}`)
        await terminal.until((screen) => hasPrinted(asOnPage(screen), step.output))
      } else if (step.kind === 'file') await writeFile(step.name, onThisMachine(step.content))
      else await (step.terminal === undefined ? runToEnd(step) : startIn(step.terminal, step))
    },
  }
}

/** Most pages show what goes to stdout; some also what a program reports on stderr before. */
function assertPrinted(stdout: string, stderr: string, output: ExpectedOutput): void {
  try {
    assertOutput(stdout, output)
  } catch (error) {
    if (output.format !== 'text' || stderr === '') throw error
    assertOutput(stderr + stdout, output)
  }
}

/** A command that only asks can be repeated until the answer is there. */
const isRead = (script: string): boolean => /^(id=.*\n)?curl (?!.* -(d|X) )/.test(script)

/** The commands of a script, each with all its lines. */
export function commandsIn(script: string): string[] {
  const commands: string[] = []
  let open = ''
  for (const line of script.trimEnd().split('\n')) {
    open += line
    const isWhole = !open.endsWith('\\') && spawnSync('sh', ['-n', '-c', open]).status === 0
    if (isWhole && open.trim() !== '') commands.push(open)
    open = isWhole ? '' : `${open}\n`
  }
  return commands
}

function mapValues<T>(record: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))
}
