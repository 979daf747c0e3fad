/** Runs a page as a reader would: in an empty folder, command by command, with terminals that stay open. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { freePort } from '../free-port.ts'
import { assertOutput, hasPrinted } from './match-output.ts'
import type { ExpectedOutput, PageStep } from './page-steps.ts'

export interface PageRunner extends AsyncDisposable {
  run(step: PageStep): Promise<void>
  /** The port of this machine that stands for a port on the page. */
  portOf(port: number): number
  readonly folder: string
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

interface Terminal {
  readonly child: ChildProcess
  readonly output: () => string
}

const preload = join(import.meta.dirname, 'port-map-preload.ts')

export async function openPageRunner(options: PageRunnerOptions = {}): Promise<PageRunner> {
  const scratch = await mkdtemp(join(tmpdir(), 'parley-page-'))
  const folder = join(scratch, 'folder')
  await mkdir(folder)
  const bin = await writeStandIns(join(scratch, 'bin'), options.standIns ?? {})
  const ports = new Map<number, number>()
  for (const port of options.ports ?? [3000, 3001]) ports.set(port, await freePort())
  const terminals = new Map<string, Terminal>()
  const state = join(scratch, 'state')
  /** A program that watches a changed file needs a moment, and a reader tries again. */
  let hasChangedFile = false
  await writeFile(state, '')

  const env: Record<string, string | undefined> = {
    PATH: [bin, dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: scratch,
    PARLEY_URL: `http://127.0.0.1:${ports.get(3000)}`,
    NODE_OPTIONS: `--conditions=parley-source --import=${pathToFileURL(preload).href}`,
    PARLEY_PAGE_PORTS: [...ports].map((pair) => pair.join('=')).join(','),
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/parley-pages'),
    npm_config_update_notifier: 'false',
    ...options.env,
  }
  const onThisMachine = (text: string): string =>
    [...ports].reduce((all, [port, own]) => all.replaceAll(new RegExp(`(?<=:)${port}\\b`, 'g'), String(own)), text)
  const asOnPage = (text: string): string =>
    [...ports]
      .reduce((all, [port, own]) => all.replaceAll(new RegExp(`(?<=:)${own}\\b`, 'g'), String(port)), text)
      .replaceAll(/^\(node:\d+\) .*Warning.*\n(?:\(Use `node .*\n)?/gm, '')

  /** A command begins where the last one left off: in its folder, with its variables. */
  function start(script: string): Terminal & { readonly stdout: () => string } {
    const text = `set -ea\ncd '${folder}'\n. '${state}'\n${onThisMachine(script)}\n{ export -p; echo "cd '$PWD'"; } > '${state}'\n`
    const child = spawn('sh', ['-c', text], { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let stdout = ''
    let all = ''
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      all += chunk.toString()
    })
    child.stderr.on('data', (chunk: Buffer) => (all += chunk.toString()))
    return { child, stdout: () => asOnPage(stdout), output: () => asOnPage(all) }
  }

  async function runToEnd(step: CommandStep): Promise<void> {
    const deadline = performance.now() + guardMs
    for (;;) {
      try {
        await runOnce(step)
        hasChangedFile = false
        return
      } catch (error) {
        if (!(hasChangedFile || isRead(step.script)) || performance.now() > deadline) throw error
      }
    }
  }

  async function runOnce({ script, output }: CommandStep): Promise<void> {
    const { child, stdout, output: all } = start(script)
    const guard = setTimeout(() => end(child, 'SIGKILL'), guardMs)
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    clearTimeout(guard)
    if (code !== 0) throw new Error(`${script}ended with ${code ?? signal}:\n${all()}\n${openTerminals()}`)
    if (output !== undefined) assertOutput(stdout(), output)
  }

  async function startIn(name: string, { script, output }: CommandStep): Promise<void> {
    await stop(name)
    hasChangedFile = false
    const terminal = start(script)
    terminals.set(name, terminal)
    await waitFor(terminal, script, output)
  }

  /** Resolves when the terminal shows the output. */
  async function waitFor(terminal: Terminal, script: string, output?: ExpectedOutput): Promise<void> {
    const { child } = terminal
    const shown = Promise.withResolvers<void>()
    const look = (): void => {
      if (output === undefined || hasPrinted(terminal.output(), output)) shown.resolve()
    }
    const failed = (why: string) => (): void => shown.reject(new Error(`${script}${why}:\n${terminal.output()}`))
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', look)
    child.once('exit', failed('ended'))
    const guard = setTimeout(failed('did not print what the page shows'), guardMs)
    look()
    await shown.promise.finally(() => clearTimeout(guard))
  }

  /** What Ctrl+C does. */
  async function stop(name: string): Promise<void> {
    const child = terminals.get(name)?.child
    terminals.delete(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    end(child, 'SIGINT')
    const guard = setTimeout(() => end(child, 'SIGKILL'), guardMs)
    await closed
    clearTimeout(guard)
  }

  const openTerminals = (): string => [...terminals].map(([name, { output }]) => `${name}:\n${output()}`).join('\n')

  if (options.packages !== undefined) {
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await runOnce({ kind: 'command', script: `npm install ${options.packages.join(' ')}` })
  }
  return {
    folder,
    portOf: (port) => ports.get(port) ?? port,
    async run(step) {
      if (step.kind === 'shown') {
        const terminal = terminals.get(step.terminal)
        if (terminal === undefined) throw new Error(`nothing runs in ${step.terminal}`)
        return waitFor(terminal, `${step.terminal} `, step.output)
      }
      if (step.kind === 'file') return writeInState(step.name, onThisMachine(step.content))
      return step.terminal === undefined ? runToEnd(step) : startIn(step.terminal, step)
    },
    async [Symbol.asyncDispose]() {
      for (const name of [...terminals.keys()]) await stop(name)
      await rm(scratch, { recursive: true, force: true })
    },
  }

  async function writeInState(name: string, content: string): Promise<void> {
    const inside = /^cd '(.*)'$/m.exec(await readFile(state, 'utf8'))?.[1] ?? folder
    const file = join(inside, name)
    hasChangedFile ||= existsSync(file)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
}

/** A command that only asks can be repeated until the answer is there. */
const isRead = (script: string): boolean => /^(id=.*\n)?curl (?!.* -(d|X) )/.test(script)

type CommandStep = Extract<PageStep, { kind: 'command' }>

/** The signal goes to everything that the command has started. */
function end(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? 0), signal)
  } catch {
    // It has already exited.
  }
}

async function writeStandIns(bin: string, own: Readonly<Record<string, string>>): Promise<string> {
  await mkdir(bin)
  const standIn = join(import.meta.dirname, 'npm-stand-in.ts')
  const npm = (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, 'npm'))
  const scripts = {
    npm: `PARLEY_PAGE_NPM='${npm.find((file) => existsSync(file))}' exec node '${standIn}' npm "$@"`,
    npx: `exec node '${standIn}' npx "$@"`,
    ...own,
  }
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
  }
  return bin
}
