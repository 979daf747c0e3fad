/** The third function of a handler, beside those for node:http and the web's Request: a gRPC listener calls it. */
import type { EngineLog } from '../../engine/contract.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import * as defaults from '../defaults.ts'
import { createGrpcDispatch, type GrpcDispatch } from './grpc-dispatch.ts'
import type { ServerContext } from '../server-context.ts'
import { consoleLog } from '../console-log.ts'
import type { ServerOptions } from '../options.ts'
import type { Readiness } from '../http/readiness.ts'
import type { AgentRegistry } from '../agents/registered-agents.ts'

/** The gRPC part of a handler: what `createGrpcServer` needs of it. Not meant to be called by applications. */
export interface GrpcHandler {
  readonly answer: GrpcDispatch
  /** The offered protocol versions, newest first. */
  readonly offered: readonly ProtocolVersion[]
  /** Whether the server accepts calls; for health checks. */
  isReady(): Promise<boolean>
  /** Adds gRPC at this port to cards: for one agent, or for all. Returns a function that reverts it. */
  listening(port: number, agent?: string): () => void
  /** The dedicated ports that agents request, by name. */
  wantedPorts(): ReadonlyMap<string, number>
  /** Calls the listener when agents are added, removed or changed. */
  onAgentsChanged(listener: () => void): void
  readonly bodyBytes: number
  readonly jsonNodes: number
  readonly keepAliveMs: number
  readonly stallMs: number
  /** Call it when a reader was disconnected because it took nothing for `stallMs`. */
  stalled(): void
  readonly log: EngineLog
}

export function createGrpcHandler(
  server: ServerContext,
  registry: AgentRegistry,
  readiness: Readiness,
  options: ServerOptions,
): GrpcHandler {
  return {
    answer: createGrpcDispatch(server, registry, readiness, options),
    offered: server.negotiator.offered,
    isReady: () => readiness.isReady(),
    listening: server.registerGrpcPort,
    wantedPorts: () => wantedPorts(registry),
    onAgentsChanged: registry.onChange,
    bodyBytes: server.limits.bodyBytes,
    jsonNodes: server.limits.jsonNodes,
    keepAliveMs: server.keepAliveMs,
    stallMs: options.stallMs ?? defaults.stallMs,
    stalled: server.unsentBytes.stalled,
    log: options.log ?? consoleLog,
  }
}

/** A server's only agent uses the server's port. */
function wantedPorts({ byName, names }: AgentRegistry): ReadonlyMap<string, number> {
  const wanted = names().flatMap((name) => {
    const registeredAgent = byName.get(name)
    const port = registeredAgent?.path === '' ? undefined : registeredAgent?.settings.grpcPort
    return port === undefined ? [] : [[name, port] as const]
  })
  return new Map(wanted)
}
