/**
 * The gRPC ports of a server: one for all agents, and one for each agent that asks for its own. Agents come and go while the
 * server runs, and their ports with them: a port that is no longer wanted takes no new calls, and its streams end in time. A
 * port that cannot be opened while the server runs is tried again until it can.
 */
import type { EngineLog } from '../engine/contract.ts'
import type { GrpcListener } from './grpc-listener.ts'

export interface GrpcListeners extends Pick<GrpcListener, 'answering' | 'drain' | 'close'> {
  /** The port that all agents share, if there is one. */
  readonly port: number | undefined
  /** The open ports of single agents, by name. */
  agentPorts(): Readonly<Record<string, number>>
  /** Resolves when the ports are those that the agents ask for, as far as they can be opened. */
  settled(): Promise<void>
}

export interface GrpcListenersParts {
  readonly handler: {
    wantedPorts(): ReadonlyMap<string, number>
    onAgentsChanged(listener: () => void): void
  }
  /** The port that all agents share. Default: none. */
  readonly port: number | undefined
  listen(port: number, agent?: string): Promise<GrpcListener>
  readonly log: EngineLog
  /** Runs it after so long; returns what prevents that. Default: a timer that keeps no process alive. */
  later?(run: () => void, ms: number): () => void
}

interface OwnPort {
  readonly wanted: number
  readonly listener: GrpcListener
}

/** A port that cannot be opened is tried again after one second, and then at twice the interval each time, up to a minute. */
const firstRetryMs = 1_000
const maxRetryMs = 60_000

/** Rejects if a port that is wanted at the start cannot be opened. */
export async function openGrpcListeners(parts: GrpcListenersParts): Promise<GrpcListeners> {
  const { handler, port, listen, log, later = unrefTimer } = parts
  const own = new Map<string, OwnPort>()
  const leaving = new Set<GrpcListener>()
  let isClosing = false
  const shared = port === undefined ? undefined : await listen(port)
  const all = (): GrpcListener[] => [
    ...(shared === undefined ? [] : [shared]),
    ...[...own.values()].map(({ listener }) => listener),
    ...leaving,
  ]

  function retire(listener: GrpcListener): void {
    leaving.add(listener)
    void listener.drain().then(() => leaving.delete(listener))
  }

  /** Closes the ports of agents that want none any more, and those that another agent wants. */
  function release(wantedPorts: ReadonlyMap<string, number>): void {
    for (const [agent, { listener }] of own) {
      const wanted = wantedPorts.get(agent)
      const isOthers = [...wantedPorts].some(([other, its]) => other !== agent && its === listener.port)
      if (wanted !== undefined && (isAt(agent, wanted) || !isOthers)) continue
      own.delete(agent)
      retire(listener)
    }
  }

  /** One that took a free port may ask for that very port later. */
  function isAt(agent: string, wanted: number): boolean {
    const one = own.get(agent)
    return one !== undefined && (one.wanted === wanted || one.listener.port === wanted)
  }

  /** An agent that moves keeps its old port until the new one is open, unless another agent wants the old one. */
  async function apply(failed: (agent: string, wanted: number, cause: unknown) => void): Promise<void> {
    const wantedPorts = handler.wantedPorts()
    release(wantedPorts)
    for (const [agent, wanted] of wantedPorts) {
      if (isClosing) return
      if (isAt(agent, wanted)) continue
      try {
        const listener = await listen(wanted, agent)
        if (isClosing) return listener.close()
        const old = own.get(agent)
        own.set(agent, { wanted, listener })
        if (old !== undefined) retire(old.listener)
      } catch (cause) {
        failed(agent, wanted, cause)
      }
    }
  }

  /** The ports that could not be opened, by agent. */
  let failed: ReadonlyMap<string, number> = new Map()
  let applying: Promise<void> = Promise.resolve()
  let retries = 0
  let cancelRetry = (): void => {}

  async function applyAndRetry(): Promise<void> {
    cancelRetry()
    if (isClosing) return
    const failing = new Map<string, number>()
    await apply((agent, wanted, cause) => {
      failing.set(agent, wanted)
      const fields = { agent, cause }
      if (failed.get(agent) === wanted) log.debug(`Port ${wanted} still cannot be opened for gRPC`, fields)
      else log.error(`Port ${wanted} cannot be opened for gRPC`, fields)
    })
    for (const [agent, wanted] of failed)
      if (isAt(agent, wanted)) log.info(`Port ${wanted} is now open for gRPC`, { agent })
    failed = failing
    if (failing.size === 0 || isClosing) return
    cancelRetry = later(again, Math.min(firstRetryMs * 2 ** retries, maxRetryMs))
    retries += 1
  }

  function again(): void {
    applying = applying.then(applyAndRetry)
  }

  const end = (): void => {
    isClosing = true
    cancelRetry()
  }
  const close = (): void => {
    end()
    all().forEach((listener) => listener.close())
  }
  try {
    await apply((_agent, _wanted, cause) => {
      throw cause
    })
  } catch (cause) {
    close()
    throw cause
  }
  handler.onAgentsChanged(() => {
    retries = 0
    again()
  })

  return {
    port: shared?.port,
    agentPorts: () => Object.fromEntries([...own].map(([agent, { listener }]) => [agent, listener.port])),
    settled: () => applying,
    answering: () => all().reduce((sum, listener) => sum + listener.answering(), 0),
    async drain() {
      end()
      await Promise.all(all().map((listener) => listener.drain()))
    },
    close,
  }
}

function unrefTimer(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref()
  return () => clearTimeout(timer)
}
