/** The environment of a test: the agent under test, a server over a store that outlives it, and its callers. */
import { newestVersion } from '../../versions/version-loaders.ts'
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises'
import type { Agent } from '../../agents/agent.ts'
import { createHandler, type Handler } from '../../server/handler.ts'
import { versionOf } from '../../versions/index.ts'
import type { VersionId } from '../../versions/index.ts'
import { testWire } from '../test-wire.ts'
import { type TestCaller, createTestCaller, withDeadline } from './test-caller.ts'
import type { AgentUnderTest, AgentHarness } from './harness.ts'
import { type ProcessLifetimes, type KillableProcess, inMemory } from './killable-process.ts'

export interface TestEnvironmentOptions {
  readonly turnTimeoutMs?: number
  readonly lifetimes?: ProcessLifetimes
}

export interface TestEnvironment {
  readonly bench: AgentUnderTest
  /** Every caller calls the server that runs now. */
  caller(name?: string, version?: VersionId): TestCaller
  /** The process dies without notice, and the next one starts. */
  kill(): Promise<void>
  /** The server is closed as an operator would close it, and the next one starts. */
  restart(): Promise<void>
  /** Closes only the server: what the agent under test holds stays. */
  closeServer(): Promise<void>
  /** Resolves when `happening` does, or fails after the time limit. */
  withDeadline<T>(happening: Promise<T>, what: string): Promise<T>
  close(): Promise<void>
}

export const timeoutOf = ({ stepTimeoutMs = 120_000 }: AgentHarness): number => stepTimeoutMs

const callerHeader = 'x-caller'
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export async function openTestEnvironment(
  harness: AgentHarness,
  options: TestEnvironmentOptions,
): Promise<TestEnvironment> {
  const stepTimeoutMs = timeoutOf(harness)
  const soon = <T>(happening: Promise<T>, what: string): Promise<T> => withDeadline(happening, stepTimeoutMs, what)
  const processes = (options.lifetimes ?? inMemory)()
  const dead: { readonly process: KillableProcess; readonly server: Handler }[] = []
  const bench = await soon(harness.open(), 'the bench to open')
  let process = processes.first
  let server = serve(bench.agent)

  function serve(agent: Agent): Handler {
    return createHandler({
      agent,
      store: process.store,
      authenticate: ({ header }) => ({ id: header(callerHeader) ?? 'anonymous' }),
      // Failed turns are often expected here, and the test reports the unexpected ones.
      log: silent,
      cancelGraceMs: Math.min(2_000, stepTimeoutMs / 2),
      ...(options.turnTimeoutMs !== undefined ? { turnTimeoutMs: options.turnTimeoutMs } : {}),
    })
  }

  async function begin(next: KillableProcess): Promise<void> {
    process = next
    server = serve(await soon(Promise.resolve(bench.reopen()), 'the agent to open again'))
    await soon(server.ready, 'the server to start again')
  }

  /** A socket would yield to other work between a request and its response; so does this. */
  const fetchAs = (name: string) => async (request: Request) => {
    request.headers.set(callerHeader, name)
    const response = await server.fetch(request)
    await nextTurnOfTheLoop()
    return response
  }

  async function discardKilled(): Promise<void> {
    for (const { process: old, server: late } of dead) {
      old.discard()
      await soon(late.close(), 'a dead server to go').catch(() => {})
    }
  }

  return {
    bench,
    caller(name = 'alice', version = newestVersion) {
      const wire = testWire({
        url: 'http://agent.test',
        version: versionOf(version),
        binding: 'JSONRPC',
        fetch: fetchAs(name),
      })
      return createTestCaller(wire, stepTimeoutMs)
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
    withDeadline: soon,
    async close() {
      try {
        await soon(server.close(), 'the server to close')
      } finally {
        await discardKilled()
        await soon(bench.close(), 'the bench to close').finally(processes.dispose)
      }
    },
  }
}
