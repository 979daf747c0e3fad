/** A kind of server for our client to call, and its known properties. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server as GrpcServer } from '@grpc/grpc-js'
import { ServerCredentials } from '@grpc/grpc-js'
import type { ConnectOptions } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import type { AgentScript } from './agent-script.ts'

export type Binding = 'JSONRPC' | 'HTTP+JSON' | 'GRPC'
export type Version = '0.2' | '0.3' | '1.0'

export interface PeerKind {
  readonly name: string
  /** What `connect` must choose. */
  readonly version: Version
  readonly binding: Binding
  /** A version that the peer does not offer. */
  readonly absent: Version
  /** Credentials and preferences. */
  readonly options: ConnectOptions
  /** Capabilities that its card does not declare: the client must fail without a request (B-169). */
  readonly missingCapabilities: readonly ('list' | 'push' | 'extendedCard')[]
  /** Declared capabilities that it lacks or gets wrong, with the reason. */
  readonly knownDefects?: Partial<Readonly<Record<Ability, string>>>
  /** Its agent runs the given script, or that of the suite. */
  open(script?: AgentScript): Promise<Peer>
}

export type Ability = 'set push configs' | 'list push configs' | 'name files' | 'keep a null'

export interface Peer {
  /** What `connect` is given. */
  readonly url: string
  /** Releases the agent that got `hold <name>`. */
  release(name: string): void
  close(): Promise<void>
}

export const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC']

/** The bindings for `connect`: gRPC is not included by default. */
export const optionsPreferring = (binding: Binding): ConnectOptions => ({
  prefer: [binding],
  ...(binding === 'GRPC' ? { bindings: [grpc()] } : {}),
})

/** A free port for a server of @grpc/grpc-js, which closes with what is still open. */
export async function listenGrpc(server: GrpcServer): Promise<string> {
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (reason, port) =>
      reason === null ? resolve(`127.0.0.1:${port}`) : reject(reason),
    ),
  )
}
export const agentName = 'Actor'
export const extendedDescription = 'Does what the message says, and more for known callers'
export const mood = 'https://example.com/extensions/mood/v1'

export async function listeningUrl(server: Server): Promise<string> {
  if (!server.listening) await new Promise<void>((resolve) => void server.once('listening', () => resolve()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export async function closeServer(server: Server): Promise<void> {
  const done = new Promise((resolve) => server.close(resolve))
  server.closeAllConnections()
  await done
}

/** The published servers always write to the console; it cannot be configured. */
export function muteConsole(): () => void {
  const { log, info, warn, error } = console
  console.log = console.info = console.warn = console.error = () => {}
  return () => Object.assign(console, { log, info, warn, error })
}
