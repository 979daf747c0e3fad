/** Starts a contestant in a separate process, so that its CPU and memory can be measured, and queries it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Plan } from '../measures/plan.ts'
import { findDatabase } from '../measures/postgres.ts'
import type { ParentMessage, ServerSettings, Usage, ChildMessage } from './child-process.ts'
import { type ContestantName, lineup, needsPostgres } from './lineup.ts'
import { peerPython } from './peers.ts'

export interface Contestant {
  readonly name: ContestantName
  readonly port: number
  readonly grpcPort?: number | undefined
  /** After a full garbage collection, if requested. */
  usage(collect?: boolean): Promise<Usage>
  announce(text: string): void
  /** When the last announcement was durable, or was given if the server stores nothing; on the clock that processes share. */
  announcedAt(): Promise<number>
  /** Lets it exit; returns how many bytes it leaves on disk. Removes its data, unless they were passed in. */
  close(): Promise<number>
  /** Ends it by SIGKILL. Its data stay. */
  kill(): Promise<void>
}

/** Where a contestant keeps its tasks. Pass it to several starts to restart a server on the same data. */
export interface ContestantData {
  readonly directory: string
  readonly database?: string
  remove(): Promise<void>
}

// In the working tree rather than the system's temporary folder, which may be memory: syncing to that costs nothing.
export const dataRoot = join(import.meta.dirname, '../.parley')

function sizeOf(directory: string): number {
  return readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0)
}

const profiling = (name: ContestantName, directory?: string): string[] =>
  directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(directory, name)}`]

function programOf(name: ContestantName, against = ''): string {
  if (name === 'before') return join(resolve(against), 'bench/contestants/parley.ts')
  const { program } = lineup[name]
  if (program === undefined) throw new Error(`${name} is started by its own measure`)
  return join(import.meta.dirname, program)
}

export async function createData(name: ContestantName): Promise<ContestantData> {
  mkdirSync(dataRoot, { recursive: true })
  const directory = mkdtempSync(join(dataRoot, `${name}-`))
  const database = needsPostgres(name) ? await findDatabase() : undefined
  if (database !== undefined && 'missing' in database) throw new Error(database.missing)
  return {
    directory,
    ...(database && { database: database.url }),
    async remove() {
      rmSync(directory, { recursive: true })
      await database?.drop()
    },
  }
}

/** The next message of a kind, or an error if the process exits before it. */
export async function waitForMessage<K extends string>(
  child: ChildProcess,
  kind: K,
): Promise<Extract<ChildMessage, Record<K, unknown>>> {
  const gone = new AbortController()
  const onExit = (code: number | null): void => gone.abort(new Error(`a contestant ended by itself (code ${code})`))
  child.once('exit', onExit)
  try {
    while (true) {
      const [word] = (await once(child, 'message', { signal: gone.signal })) as [ChildMessage]
      if (kind in word) return word as Extract<ChildMessage, Record<K, unknown>>
    }
  } catch (reason) {
    throw gone.signal.aborted ? gone.signal.reason : reason
  } finally {
    child.off('exit', onExit)
  }
}

const running = new Set<ChildProcess>()

/** Ends those that a failed measure has left. */
export function killContestants(): void {
  for (const child of running) child.kill('SIGKILL')
}

export interface StartOptions extends Omit<ServerSettings, 'store' | 'database'> {
  /** Default: new data, removed when it closes. */
  readonly data?: ContestantData
}

/** With `profileTo` our servers write CPU profiles there when they close, in a folder for each contestant. */
export async function startContestant(
  name: ContestantName,
  { profileTo, against }: Pick<Plan, 'profileTo' | 'against'> = {},
  { data: given, ...features }: StartOptions = {},
): Promise<Contestant> {
  const data = given ?? (await createData(name))
  const { store, isOurs, isPeer } = lineup[name]
  const settings: ServerSettings = {
    ...features,
    ...(store && { store }),
    ...(data.database !== undefined && { database: data.database }),
  }
  const child = fork(programOf(name, against), [data.directory, JSON.stringify(settings)], {
    // Node's channel to a child is lines of JSON on a socket, so another language can speak it.
    ...(isPeer && { execPath: peerPython() }),
    execArgv: isPeer
      ? []
      : ['--conditions=parley-source', '--expose-gc', ...(isOurs ? profiling(name, profileTo) : [])],
    env: { ...process.env, NODE_ENV: 'production' },
    // `@a2a-js/sdk` prints a line for every push notification.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const tell = (order: ParentMessage): void => void child.send(order)
  const { port, grpcPort } = await waitForMessage(child, 'port')
  return {
    name,
    port,
    grpcPort,
    async usage(collect = false) {
      const usage = waitForMessage(child, 'usage')
      tell({ order: 'usage', collect })
      return (await usage).usage
    },
    announce: (text) => tell({ order: 'announce', text }),
    async announcedAt() {
      const announced = waitForMessage(child, 'announced')
      tell({ order: 'announced' })
      return (await announced).announced
    },
    async close() {
      const exited = once(child, 'exit')
      tell({ order: 'close' })
      await exited
      const bytes = sizeOf(data.directory)
      if (given === undefined) await data.remove()
      return bytes
    },
    async kill() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}
