/**
 * The gRPC ports of a server: one for all agents, and one for each agent that asks for its own. Agents come and go while the
 * server runs, and their ports with them: a port that is no longer wanted takes no new calls, and its streams end in time.
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
}

interface OwnPort {
  readonly wanted: number
  readonly listener: GrpcListener
}

/** Rejects if a port that is wanted at the start cannot be opened. */
export async function openGrpcListeners({ handler, port, listen, log }: GrpcListenersParts): Promise<GrpcListeners> {
  const own = new Map<string, OwnPort>()
  const leaving = new Set<GrpcListener>()
  let isClosing = false
  const shared = port === undefined ? undefined : await listen(port)
  const all = (): GrpcListener[] => [
    ...(shared === undefined ? [] : [shared]),
    ...[...own.values()].map(({ listener }) => listener),
    ...leaving,
  ]

  function letGo(agent: string, { listener }: OwnPort): void {
    own.delete(agent)
    leaving.add(listener)
    void listener.drain().then(() => leaving.delete(listener))
  }

  /** What is not wanted goes first: an agent may be given the port that another had. */
  async function apply(failed: (agent: string, wanted: number, cause: unknown) => void): Promise<void> {
    if (isClosing) return
    const wantedPorts = handler.wantedPorts()
    for (const [agent, one] of own) if (wantedPorts.get(agent) !== one.wanted) letGo(agent, one)
    for (const [agent, wanted] of wantedPorts) {
      if (own.has(agent)) continue
      try {
        const listener = await listen(wanted, agent)
        if (isClosing) listener.close()
        else own.set(agent, { wanted, listener })
      } catch (cause) {
        failed(agent, wanted, cause)
      }
    }
  }

  const logFailure = (agent: string, wanted: number, cause: unknown): void =>
    log.error(`Port ${wanted} cannot be opened for gRPC`, { agent, cause })
  const close = (): void => all().forEach((listener) => listener.close())
  try {
    await apply((_agent, _wanted, cause) => {
      throw cause
    })
  } catch (cause) {
    close()
    throw cause
  }
  let applying: Promise<void> = Promise.resolve()
  handler.onAgentsChanged(() => {
    applying = applying.then(() => apply(logFailure))
  })

  return {
    port: shared?.port,
    agentPorts: () => Object.fromEntries([...own].map(([agent, { listener }]) => [agent, listener.port])),
    settled: () => applying,
    answering: () => all().reduce((sum, listener) => sum + listener.answering(), 0),
    async drain() {
      isClosing = true
      await Promise.all(all().map((listener) => listener.drain()))
    },
    close,
  }
}
