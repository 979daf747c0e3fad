/**
 * A server with the agent of a framework in a process of its own, which is killed with SIGKILL and started again over the same data.
 * The program of the process calls `serveInChild`.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type { Agent } from '@parley/a2a'
import { serve } from '@parley/a2a/node'
import { freePort } from '../free-port.ts'

export interface KillableServer {
  readonly url: string
  /** How often the effect of a tool happened, in all lives. */
  effects(): number
  /** Resolves when the program has printed this word, in its present life. */
  printed(word: string): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
}

/** `settings` are passed to the program in `childSettings`. */
export async function openKillableServer(
  t: TestContext,
  program: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<KillableServer> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-killed-'))
  const port = await freePort()
  let life = 0
  let child: ChildProcess | undefined
  let lines: string[] = []
  let onLine = Promise.withResolvers<void>()

  async function printed(word: string): Promise<void> {
    while (!lines.includes(word)) {
      if (child === undefined || child.exitCode !== null) throw new Error(`the program ended before it printed ${word}`)
      await onLine.promise
    }
  }

  async function start(): Promise<void> {
    life += 1
    lines = []
    const given = JSON.stringify({ ...settings, folder, port, life })
    const begun = spawn(process.execPath, ['--conditions=parley-source', program, given], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = begun
    const wake = (): void => {
      onLine.resolve()
      onLine = Promise.withResolvers()
    }
    begun.once('exit', wake)
    createInterface({ input: begun.stdout }).on('line', (line) => {
      lines.push(line)
      wake()
    })
    await printed('ready')
  }

  async function kill(): Promise<void> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  t.after(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    url: `http://127.0.0.1:${port}`,
    effects: () => (existsSync(effectsFile(folder)) ? readFileSync(effectsFile(folder), 'utf8').length : 0),
    printed,
    kill,
    start,
  }
}

const effectsFile = (folder: string): string => join(folder, 'effects')

/** What the program of a killable server knows. */
export interface ChildSettings {
  /** Where it keeps its data. */
  readonly folder: string
  readonly port: number
  /** 1 in the first process, 2 after the first kill. */
  readonly life: number
  readonly [name: string]: unknown
}

export function childSettings(): ChildSettings {
  return JSON.parse(process.argv[2] ?? '{}') as ChildSettings
}

/** The effect of a tool: counted in a file, and printed. */
export function causeEffect({ folder }: ChildSettings): void {
  appendFileSync(effectsFile(folder), 'x', { flush: true })
  console.log('effect')
}

export async function serveInChild(agent: Agent, { folder, port }: ChildSettings): Promise<void> {
  await serve({ name: 'Killed', agent, port, dataDir: join(folder, 'data'), quiet: true })
  console.log('ready')
}
