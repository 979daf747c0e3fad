/** Starts a contestant in a separate process, so that its CPU and memory can be measured, and queries it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ContestantName } from '../workload.ts'
import type { Plan } from '../measures/plan.ts'
import type { ParentMessage, Usage, ChildMessage } from './child-process.ts'

export interface Contestant {
  readonly name: ContestantName
  readonly port: number
  /** After a full garbage collection, if requested. */
  usage(collect?: boolean): Promise<Usage>
  announce(text: string): void
  /** Lets it exit; returns how many bytes it leaves on disk. */
  close(): Promise<number>
}

// In the working tree rather than the system's temporary folder, which may be memory: syncing to that costs nothing.
const dataRoot = join(import.meta.dirname, '../.parley')

function sizeOf(directory: string): number {
  return readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0)
}

const profiling = (directory?: string): string[] =>
  directory === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${directory}`]

const programOf = (name: ContestantName, against = ''): string =>
  name === 'before' ? join(resolve(against), 'bench/contestants/parley.ts') : join(import.meta.dirname, `${name}.ts`)

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

/** With `profileTo` our server writes a CPU profile there when it closes. */
export async function startContestant(
  name: ContestantName,
  { profileTo, against }: Pick<Plan, 'profileTo' | 'against'> = {},
): Promise<Contestant> {
  mkdirSync(dataRoot, { recursive: true })
  const directory = mkdtempSync(join(dataRoot, `${name}-`))
  const child = fork(programOf(name, against), [directory], {
    execArgv: [
      '--conditions=parley-source',
      '--expose-gc',
      ...(name === 'parley' || name === 'hub' ? profiling(profileTo) : []),
    ],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const tell = (order: ParentMessage): void => void child.send(order)
  const { port } = await waitForMessage(child, 'port')
  return {
    name,
    port,
    async usage(collect = false) {
      const usage = waitForMessage(child, 'usage')
      tell({ order: 'usage', collect })
      return (await usage).usage
    },
    announce: (text) => tell({ order: 'announce', text }),
    async close() {
      const exited = once(child, 'exit')
      tell({ order: 'close' })
      await exited
      const bytes = sizeOf(directory)
      rmSync(directory, { recursive: true })
      return bytes
    },
  }
}
