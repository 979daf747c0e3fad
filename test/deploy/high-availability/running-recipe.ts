/** The recipe of deploy/high-availability as an operator runs it: one command in a folder, and commands beside it. */
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { readStatus } from '../project-imports.ts'
import type { HaSecrets, HaStatus } from '../project-imports.ts'
import { freePortBlock } from '../../free-port.ts'

export const root = join(import.meta.dirname, '../../..')
const recipe = join(root, 'deploy/high-availability')
const program = join(recipe, 'main.ts')

export interface RunningRecipe {
  readonly url: string
  readonly data: string
  readonly port: number
  readonly lines: readonly string[]
  readonly secrets: HaSecrets
  /** Resolves when it says how to stop it. */
  start(): Promise<void>
  status(): Promise<HaStatus>
  /** Runs `npm run ha -- <words>`; resolves with its output. */
  command(...words: readonly string[]): Promise<string>
  /** SIGKILL to a process of the recipe, and to its children. */
  kill(name: string): Promise<void>
  pidOf(name: string): Promise<number>
  /** The last lines of every log, for a failed test. */
  logTails(): string
  /** SIGKILL to the script, which leaves everything else behind. */
  killScript(): Promise<void>
  /** What Ctrl+C does; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Kills what still runs and removes the folder. */
  close(): Promise<void>
}

/** The configuration of the recipe with agents that a history can be checked by. */
function configOf(): string {
  const printed = readFileSync(join(recipe, 'parley.yaml'), 'utf8')
  const agents = join(import.meta.dirname, 'agents.ts')
  const more = ['counter', 'fragile', 'asker'].map(
    (name) => `  ${name}: { kind: module, path: ${agents}, export: ${name} }`,
  )
  return `${printed.replace('[clock]', "'*'")}${more.join('\n')}\nlimits: { perAddress: 1000000/s, tasksPerCaller: 1000000 }\n`
}

/** Ends the recipe when the test ends, however it ends: its standard input is a pipe from the test. */
const guard = '"$@" & echo "guarded $!"; cat >/dev/null; kill -TERM $!; wait'

export async function createRecipe(): Promise<RunningRecipe> {
  const data = mkdtempSync(join(tmpdir(), 'parley-ha-'))
  const port = await freePortBlock(10)
  const config = join(data, 'parley.yaml')
  writeFileSync(config, configOf())
  const lines: string[] = []
  let child: ChildProcess | undefined
  let scriptPid = 0

  const node = [process.execPath, program]
  const recipeOf: RunningRecipe = {
    url: `http://127.0.0.1:${port}`,
    data,
    port,
    lines,
    get secrets() {
      return JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')) as HaSecrets
    },
    async start() {
      const args = [...node, 'start', '--data', data, '--port', String(port), '--config', config]
      const started = spawn('/bin/sh', ['-c', guard, 'sh', ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
      child = started
      await new Promise<void>((resolve, reject) => {
        for (const stream of [started.stdout, started.stderr]) {
          createInterface({ input: stream }).on('line', (line) => {
            lines.push(line)
            const [, pid] = /^guarded (\d+)$/.exec(line) ?? []
            if (pid !== undefined) scriptPid = Number(pid)
            if (line.startsWith('Stop with')) resolve()
          })
        }
        started.once('exit', () => reject(new Error(`the recipe ended:\n${lines.join('\n')}`)))
      })
    },
    async status() {
      const status = await readStatus(data)
      if (status === undefined) throw new Error('the recipe does not run')
      return status
    },
    async command(...words) {
      const [file = '', ...args] = node
      return (await promisify(execFile)(file, [...args, ...words, '--data', data])).stdout.trim()
    },
    async pidOf(name) {
      const found = (await recipeOf.status()).processes.find((one) => one.name === name)?.pid
      if (found === undefined) throw new Error(`${name} does not run`)
      return found
    },
    async kill(name) {
      const pid = await recipeOf.pidOf(name)
      for (const one of [pid, ...childrenOf(pid)]) killIfThere(one)
    },
    logTails() {
      const folder = join(data, 'logs')
      const tail = (file: string): string => readFileSync(join(folder, file), 'utf8').split('\n').slice(-25).join('\n')
      return [...lines.slice(-10), ...readdirSync(folder).map((file) => `${file}:\n${tail(file)}`)].join('\n')
    },
    async killScript() {
      killIfThere(scriptPid)
      await endGuard()
    },
    stop: endGuard,
    async close() {
      if (child?.exitCode === null) await recipeOf.killScript()
      for (const { pid } of leftovers(data)) for (const one of [...childrenOf(pid), pid]) killIfThere(one)
      rmSync(data, { recursive: true, force: true, maxRetries: 10 })
    },
  }
  return recipeOf

  async function endGuard(): Promise<number | null> {
    if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null
    const exited = once(child, 'exit') as Promise<[number | null]>
    child.stdin?.end()
    return (await exited)[0]
  }
}

function leftovers(data: string): readonly { readonly pid: number }[] {
  try {
    return JSON.parse(readFileSync(join(data, 'processes.json'), 'utf8')) as { pid: number }[]
  } catch {
    return []
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has exited since it was listed.
  }
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent
      } catch {
        return false
      }
    })
}
