/** A server's third function, beside those for node:http and the web's Request: what a listener of gRPC binds to. */
import type { EngineLog } from '../engine/contract.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import * as defaults from './defaults.ts'
import { createGrpcCalls, type GrpcCalls } from './grpc-calls.ts'
import type { House } from './house.ts'
import { consoleLog } from './log.ts'
import type { HouseOptions } from './options.ts'
import type { Readiness } from './readiness.ts'
import type { Roster } from './roster.ts'

export interface GrpcHandler {
  readonly answer: GrpcCalls
  /** Newest first. */
  readonly offered: readonly ProtocolVersion[]
  /** Whether calls are taken: for those who ask after its health. */
  isReady(): Promise<boolean>
  /** From now on cards say that gRPC is spoken at this port: for one agent, or for all. Returns what takes that back. */
  listening(port: number, agent?: string): () => void
  /** The ports that agents ask for as their own, by name. */
  wantedPorts(): ReadonlyMap<string, number>
  /** Calls the listener when agents have come, gone or changed. */
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
  house: House,
  roster: Roster,
  readiness: Readiness,
  options: HouseOptions,
): GrpcHandler {
  return {
    answer: createGrpcCalls(house, roster, readiness, options),
    offered: house.negotiator.offered,
    isReady: () => readiness.isReady(),
    listening: house.listensForGrpc,
    wantedPorts: () => wantedPorts(roster),
    onAgentsChanged: roster.onChange,
    bodyBytes: house.limits.bodyBytes,
    jsonNodes: house.limits.jsonNodes,
    keepAliveMs: house.keepAliveMs,
    stallMs: options.stallMs ?? defaults.stallMs,
    stalled: house.performParts.unsent.stalled,
    log: options.log ?? consoleLog,
  }
}

/** The port of an agent that is alone is the server's. */
function wantedPorts({ byName, names }: Roster): ReadonlyMap<string, number> {
  const wanted = names().flatMap((name) => {
    const resident = byName.get(name)
    const port = resident?.path === '' ? undefined : resident?.settings.grpcPort
    return port === undefined ? [] : [[name, port] as const]
  })
  return new Map(wanted)
}
