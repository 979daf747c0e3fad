/** Where an agent is tried: its bench, a server over a store that outlives it, and those who call it. */
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { Agent } from '../../agents/agent.ts'
import { createHandler } from '../../server/handler.ts'
import type { Handler } from '../../server/handler.ts'
import { versionOf } from '../../versions/index.ts'
import type { VersionId } from '../../versions/version.ts'
import { testWire } from '../test-wire.ts'
import type { Caller } from './caller.ts'
import { callerOver, within } from './caller.ts'
import type { AgentBench, AgentHarness } from './harness.ts'
import type { Lifetimes, MortalProcess } from './mortal-process.ts'
import { inMemory } from './mortal-process.ts'

export interface StageOptions {
  readonly turnTimeoutMs?: number
  readonly lifetimes?: Lifetimes
}

export interface Stage {
  readonly bench: AgentBench
  /** Whoever it is, they call whichever server is there now. */
  caller(name?: string, version?: VersionId): Caller
  /** The process is gone without a word, and the next one starts. */
  kill(): Promise<void>
  /** The server is closed as an operator would, and the next one starts. */
  restart(): Promise<void>
  /** Only that: what the bench holds stays. */
  closeServer(): Promise<void>
  /** Resolves when `happening` does, or fails as everything that takes too long. */
  soon<T>(happening: Promise<T>, what: string): Promise<T>
  close(): Promise<void>
}

export const patienceOf = ({ patienceMs = 60_000 }: AgentHarness): number => patienceMs

const callerHeader = 'x-caller'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function openStage(harness: AgentHarness, options: StageOptions): Promise<Stage> {
  const patienceMs = patienceOf(harness)
  const soon = <T>(happening: Promise<T>, what: string): Promise<T> => within(happening, patienceMs, what)
  const graveyard = (options.lifetimes ?? inMemory)()
  const dead: { readonly process: MortalProcess; readonly server: Handler }[] = []
  const bench = await soon(harness.open(), 'the bench to open')
  let process = graveyard.first
  let server = serve(bench.agent)

  function serve(agent: Agent): Handler {
    return createHandler({
      agent,
      store: process.store,
      authenticate: ({ header }) => ({ id: header(callerHeader) ?? 'nobody' }),
      // What a turn fails of is often what is wanted here, and the trial says what is not.
      log: silent,
      cancelGraceMs: Math.min(2_000, patienceMs / 2),
      ...(options.turnTimeoutMs !== undefined ? { turnTimeoutMs: options.turnTimeoutMs } : {}),
    })
  }

  async function begin(next: MortalProcess): Promise<void> {
    process = next
    server = serve(await soon(Promise.resolve(bench.reopen()), 'the agent to open again'))
    await soon(server.ready, 'the server to start again')
  }

  /** A socket would let others have a turn between a request and its answer. */
  const fetchAs = (name: string) => async (request: Request) => {
    request.headers.set(callerHeader, name)
    const response = await server.fetch(request)
    await nextTurnOfTheLoop()
    return response
  }

  async function bury(): Promise<void> {
    for (const { process: old, server: late } of dead) {
      old.bury()
      await soon(late.close(), 'a dead server to go').catch(() => {})
    }
  }

  return {
    bench,
    caller(name = 'alice', version = '1.0') {
      const wire = testWire({
        url: 'http://agent.test',
        version: versionOf(version),
        binding: 'JSONRPC',
        fetch: fetchAs(name),
      })
      return callerOver(wire, patienceMs)
    },
    async kill() {
      dead.push({ process, server })
      await begin(await process.kill())
    },
    async restart() {
      await soon(server.close(), 'the server to close')
      await begin(process.next())
    },
    closeServer: () => soon(server.close(), 'the server to close'),
    soon,
    async close() {
      try {
        await soon(server.close(), 'the server to close')
      } finally {
        await bury()
        await soon(bench.close(), 'the bench to close').finally(graveyard.dispose)
      }
    },
  }
}
