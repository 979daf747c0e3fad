/** Reports once where a server listens: to the configured log, or to a terminal. */
import type { EngineLog } from '../engine/contract.ts'

export interface ListeningServer {
  readonly url: string
  readonly grpcPort?: number | undefined
  /** Names of cards and the path of each agent, below `url`. */
  readonly agents: readonly { readonly name: string; readonly path: string }[]
}

export interface AnnounceOptions {
  readonly quiet: boolean
  readonly log: EngineLog | undefined
  print(line: string): void
}

export function announce({ url, grpcPort, agents }: ListeningServer, { quiet, log, print }: AnnounceOptions): void {
  if (quiet) return
  if (log !== undefined) {
    log.info('listening', { url, ...(grpcPort !== undefined ? { grpcPort } : {}) })
    return
  }
  const grpc = grpcPort === undefined ? '' : `, gRPC on port ${grpcPort}`
  const [only] = agents
  if (only !== undefined && agents.length === 1) {
    print(`${only.name} is listening on ${url}${only.path}${grpc}`)
    print(`Agent card: ${url}${only.path}/.well-known/agent-card.json`)
    return
  }
  print(`${agents.length} agents are listening on ${url}${grpc}`)
  print(agents.map(({ path }) => path).join(', '))
}
