/** A hub as operators run it, in a separate process that can be killed, stopped, slowed down and started again at the same port. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../free-port.ts'
import type { HeapSample, ProbeRequest } from './probe.ts'

export interface HubProcess {
  readonly name: string
  readonly url: string
  readonly port: number
  /** Resolves when it listens; throws if it ends before that. */
  start(): Promise<void>
  /** Starts it again if it ended by itself. */
  revive(): Promise<void>
  /** SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>
  pause(): void
  resume(): void
  reload(): void
  slowDisk(commitMs: number): void
  /** SQLite only, where no disk can be filled. */
  limitPages(isFull: boolean): void
  /** Steps the wall clock of the hub by this much, absolutely. Holds across restarts. */
  setClock(offsetMs: number): void
  heap(): Promise<HeapSample>
  /** Exits that the test did not cause, with the end of the hub's log. */
  readonly crashes: readonly string[]
  /** Whether it logged a failed write since the last call. On an overloaded machine the database may fail without a fault. */
  hasFailedWrites(): boolean
}

export interface HubProcessOptions {
  readonly name: string
  readonly folder: string
  readonly config: string
  readonly ledger: string
  readonly env: Readonly<Record<string, string>>
}

const program = join(import.meta.dirname, '../../packages/hub/src/cli/main.ts')
const preloads = ['../clock-step.ts', 'probe.ts'].map((file) => join(import.meta.dirname, file))

export async function createHubProcess({ name, folder, config, ledger, env }: HubProcessOptions): Promise<HubProcess> {
  const port = await freePort()
  const clockFile = join(folder, `${name}.clock`)
  const logFile = join(folder, `${name}.log`)
  const scratch = join(folder, 'tmp')
  mkdirSync(scratch, { recursive: true })
  const crashes: string[] = []
  let child: ChildProcess | undefined
  let isExpected = true

  async function kill(): Promise<void> {
    const dying = child
    if (dying === undefined) return
    isExpected = true
    const exited = dying.exitCode !== null || dying.signalCode !== null ? undefined : once(dying, 'exit')
    dying.kill('SIGKILL')
    await exited
    if (child === dying) child = undefined
  }

  function tell(request: ProbeRequest): void {
    // It may have exited by now.
    if (child?.connected === true) child.send(request, () => {})
  }

  let logRead = 0
  const endOfLog = (): string => readFileSync(logFile, 'utf8').slice(-2_000)

  function ended(code: number | null, signal: string | null): void {
    if (isExpected) return
    crashes.push(`${name} ended by itself with ${signal ?? code}: ${endOfLog()}`)
  }

  async function start(): Promise<void> {
    const log = openSync(logFile, 'a')
    const imports = preloads.flatMap((file) => ['--import', file])
    const starting = spawn(process.execPath, ['--conditions=parley-source', ...imports, program, 'up', '-c', config], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        PORT: String(port),
        PARLEY_CLOCK_OFFSET_FILE: clockFile,
        PARLEY_TORTURE_LEDGER: ledger,
        // A hub that is killed leaves the folders of its programs behind.
        TMPDIR: scratch,
        NODE_COMPILE_CACHE: join(folder, 'compiled'),
        ...env,
      },
      stdio: ['ignore', 'pipe', log, 'ipc'],
    })
    closeSync(log)
    child = starting
    isExpected = false
    starting.once('exit', ended)
    // Read to the end, or a full pipe would stop the hub.
    const lines = createInterface({ input: starting.stdout as NodeJS.ReadableStream })
    await new Promise<void>((resolve, reject) => {
      lines.on('line', (line) => {
        if (line.startsWith('Unfinished tasks continue')) resolve()
      })
      starting.once('exit', () => reject(new Error(`${name} ended before it listened: ${endOfLog()}`)))
    })
  }

  return {
    name,
    port,
    url: `http://127.0.0.1:${port}`,
    crashes,
    hasFailedWrites() {
      const text = readFileSync(logFile).subarray(logRead).toString()
      logRead += Buffer.byteLength(text)
      return text.includes('a task could not be written')
    },
    start,
    async revive() {
      const isGone = child === undefined || child.exitCode !== null || child.signalCode !== null
      if (isGone) await start()
    },
    kill,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    reload: () => void child?.kill('SIGHUP'),
    limitPages: (isFull) => tell({ type: 'full', isFull }),
    slowDisk: (commitMs) => tell({ type: 'slow', commitMs }),
    setClock: (offsetMs) => writeFileSync(clockFile, String(offsetMs)),
    async heap() {
      if (child === undefined) throw new Error(`${name} is not running`)
      const answer = once(child, 'message') as Promise<[HeapSample]>
      tell({ type: 'heap' })
      return (await answer)[0]
    },
  }
}
