/**
 * The gRPC ports of a server: one for all agents, and one for each agent with a dedicated port. Agents are added and removed while
 * the server runs, and their ports with them: a released port accepts no new calls, and its streams may end. If a port cannot be
 * opened while the server runs, opening is retried until it succeeds.
 */
import type { EngineLog } from '../../engine/contract.ts'
import type { GrpcListener } from './grpc-listener.ts'

export interface GrpcListeners extends Pick<GrpcListener, 'answering' | 'drain' | 'close'> {
  /** The port that all agents share, if there is one. */
  readonly port: number | undefined
  /** The open dedicated ports, by agent name. */
  agentPorts(): Readonly<Record<string, number>>
  /** Resolves when the requested ports are open, as far as they can be opened. */
  settled(): Promise<void>
}

export interface GrpcListenersDeps {
  readonly handler: {
    wantedPorts(): ReadonlyMap<string, number>
    onAgentsChanged(listener: () => void): void
  }
  /** The port that all agents share. Default: none. */
  readonly port: number | undefined
  listen(port: number, agent?: string): Promise<GrpcListener>
  readonly log: EngineLog
  /** Calls `run` after `ms`; returns a function that cancels it. Default: a timer that does not keep the process alive. */
  later?(run: () => void, ms: number): () => void
}

interface AgentPort {
  readonly wanted: number
  readonly listener: GrpcListener
}

/** If a port cannot be opened, the first retry is after one second; the interval then doubles, up to a minute. */
const firstRetryMs = 1_000
const maxRetryMs = 60_000

/** Rejects if a port that is requested at the start cannot be opened. */
export async function openGrpcListeners(parts: GrpcListenersDeps): Promise<GrpcListeners> {
  const { handler, port, listen, log, later = unrefTimer } = parts
  const own = new Map<string, AgentPort>()
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

  /** Closes the ports of agents that no longer request one, and ports that another agent requests. */
  function release(wantedPorts: ReadonlyMap<string, number>): void {
    for (const [agent, { listener }] of own) {
      const wanted = wantedPorts.get(agent)
      const isOthers = [...wantedPorts].some(([other, its]) => other !== agent && its === listener.port)
      if (wanted !== undefined && (isAt(agent, wanted) || !isOthers)) continue
      own.delete(agent)
      retire(listener)
    }
  }

  /** An agent that got a free port may later request that very port. */
  function isAt(agent: string, wanted: number): boolean {
    const one = own.get(agent)
    return one !== undefined && (one.wanted === wanted || one.listener.port === wanted)
  }

  /** An agent that changes its port keeps the old one until the new one is open, unless another agent requests the old one. */
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
