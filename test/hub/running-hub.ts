/** The hub as operators run it: a program, a folder with a configuration, and its output. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after } from 'node:test'

const program = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')

/** Why no hub can be started on a pseudo-terminal here. */
export const terminalSkipReason: string | false =
  spawnSync('script', ['--version']).status === 0 ? false : 'there is no program `script` of util-linux'

export interface ProcessResult {
  readonly code: number | null
  readonly lines: readonly string[]
}

export interface RunningHub {
  readonly url: string
  /** Its output on stdout and stderr. */
  readonly lines: readonly string[]
  /** The first line after `from`, past or future, that matches. */
  waitForLine(pattern: RegExp, from?: number): Promise<string>
  /** The key that the first start wrote to a file, because it had no terminal. */
  adminKey(): Promise<string>
  signal(name: NodeJS.Signals): void
  stop(): Promise<ProcessResult>
}

export type Environment = Readonly<Record<string, string>>

/** A separate folder, removed after the tests. */
export async function newFolder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-hub-'))
  after(() => rm(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** The words that start the hub, before its arguments. Default: this Node with the sources. */
export type HubCommand = readonly string[]

const fromSources: HubCommand = [process.execPath, '--conditions=parley-source', program]

function start(
  folder: string,
  args: readonly string[],
  env: Environment,
  atTerminal = false,
  command: HubCommand = fromSources,
) {
  const words = [...command, ...args]
  // A program of util-linux that gives its child a terminal.
  const [file = '', ...rest] = atTerminal ? ['script', '-qfec', `exec ${words.join(' ')}`, '/dev/null'] : words
  const child = spawn(file, rest, {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  after(() => child.kill('SIGKILL'))
  const lines: string[] = []
  const waiting = new Set<() => void>()
  const closed = once(child, 'close') as Promise<[number | null]>
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      for (const look of waiting) look()
    })
  }
  async function says(pattern: RegExp, from = 0): Promise<string> {
    const found = Promise.withResolvers<string>()
    const look = (): void => {
      const line = lines.slice(from).find((one) => pattern.test(one))
      if (line !== undefined) found.resolve(line)
    }
    waiting.add(look)
    look()
    void closed.then(() => found.reject(new Error(`it ended and did not say ${String(pattern)}:\n${lines.join('\n')}`)))
    return found.promise.finally(() => waiting.delete(look))
  }
  return { child, lines, says, closed }
}

/** Resolves when it listens. Any free port, unless `env` sets one. `atTerminal`: with a pseudo-terminal. */
export async function startHub(
  folder: string,
  args: readonly string[] = [],
  env: Environment = {},
  atTerminal = false,
  command: HubCommand = fromSources,
): Promise<RunningHub> {
  const { child, lines, says, closed } = start(folder, ['up', ...args], { PORT: '0', ...env }, atTerminal, command)
  const url = /listening on (\S+)/.exec(await says(/listening on/))?.[1] ?? ''
  await says(/^(Stop with|Unfinished tasks continue|All tasks are lost when)/)
  return {
    url,
    lines,
    waitForLine: says,
    adminKey: async () =>
      (await readFile(/admin key is in (\S+)/.exec(await says(/The admin key is in/))?.[1] ?? '', 'utf8')).trim(),
    signal: (name) => void child.kill(name),
    async stop() {
      child.kill('SIGTERM')
      const [code] = await closed
      return { code, lines }
    },
  }
}

/** Runs a command to its end. */
export async function runParley(
  folder: string,
  args: readonly string[],
  env: Environment = {},
  command: HubCommand = fromSources,
): Promise<ProcessResult> {
  const { lines, closed } = start(folder, args, env, false, command)
  const [code] = await closed
  return { code, lines }
}
