/** Reports once where a server listens, and who may call it: to the configured log, or to a terminal. */
import type { EngineLog } from '../engine/contract.ts'

export interface ListeningServer {
  readonly url: string
  readonly grpcPort?: number | undefined
  /** Names of cards and the path of each agent, below `url`. */
  readonly agents: readonly { readonly name: string; readonly path: string }[]
  /** Where tasks are kept: `SQLite in .parley/parley.db`. */
  readonly store: string
}

export interface AnnounceOptions {
  readonly quiet: boolean
  readonly log: EngineLog | undefined
  /** Whether a person reads what is printed. A file or a pipe gets the address only, in lines that programs may rely on. */
  readonly isTerminal: boolean
  print(line: string): void
}

export function announce(listening: ListeningServer, { quiet, log, isTerminal, print }: AnnounceOptions): void {
  if (quiet) return
  const { url, grpcPort, store } = listening
  if (log !== undefined) {
    log.info('listening', { url, ...(grpcPort !== undefined ? { grpcPort } : {}) })
    return
  }
  for (const line of addressLines(listening)) print(line)
  if (isTerminal) print(`Store: ${store}`)
}

/** Also if `quiet`: a server on a network that lets everyone in is rarely meant. */
export function warnOfOpenServer(host: string, { log, print }: Pick<AnnounceOptions, 'log' | 'print'>): void {
  const text = `everyone who reaches ${host} can call the agents: set \`authenticate\`, or listen on 127.0.0.1`
  if (log !== undefined) log.warn(text)
  else print(`Warning: ${text}.`)
}

function addressLines({ url, grpcPort, agents }: ListeningServer): readonly string[] {
  const grpc = grpcPort === undefined ? '' : `, gRPC on port ${grpcPort}`
  const [only] = agents
  if (only === undefined || agents.length > 1) {
    return [`${agents.length} agents are listening on ${url}${grpc}`, agents.map(({ path }) => path).join(', ')]
  }
  return [
    `${only.name} is listening on ${url}${only.path}${grpc}`,
    `Agent card: ${url}${only.path}/.well-known/agent-card.json`,
  ]
}
