/** `grpc()`: the binding that `connect(url, { bindings: [grpc()] })` takes besides the two over HTTP. */
import { Client, credentials } from '@grpc/grpc-js'
import type { ChannelCredentials, ChannelOptions } from '@grpc/grpc-js'
import { A2AError } from '../../model/error.ts'
import type { ClientBinding } from '../contract.ts'
import { grpcAddress } from './address.ts'
import type { GrpcAddress } from './address.ts'
import { createGrpcWire } from './wire.ts'

export interface GrpcOptions {
  /**
   * For addresses that do not say by their scheme (`grpc://`, `grpcs://`, `http://`, `https://`). Default: TLS, unless
   * the peer is this machine. An authority of your own, and a certificate by which you are known, are in PEM.
   */
  readonly tls?:
    | boolean
    | { readonly ca?: string | Uint8Array; readonly cert?: string | Uint8Array; readonly key?: string | Uint8Array }
  /**
   * How often a connection with an open call is asked whether it still lives: silence says nothing over gRPC. Default
   * five minutes, because that is how often servers put up with by default.
   */
  readonly keepAliveMs?: number
  /**
   * Resolves the host of an interface to the IP addresses that may be connected to; the name stays what certificates
   * are checked against. Reject to refuse the host. `undefined` leaves resolution to gRPC, which is the default. For
   * addresses that you did not choose use `guardedLookup()` of `@parley/a2a/node`.
   */
  readonly resolve?: (host: string, port: number) => Promise<readonly string[] | undefined>
  /** Everything else that `@grpc/grpc-js` can be told. */
  readonly channel?: ChannelOptions
}

/** How long resolved addresses are used before they are looked up again; connections stay open across it. */
const resolvedMs = 30_000
/** Clients of this many targets are kept. A name whose addresses change at every look adds no more. */
const mostClients = 64

export interface GrpcBinding extends ClientBinding {
  /** Ends the connections. Without it they end with the process, which they do not keep. */
  close(): void
}

export function grpc(options: GrpcOptions = {}): GrpcBinding {
  const { tls, keepAliveMs = 300_000, resolve, channel } = options
  const saysTls = tls === undefined || typeof tls === 'boolean' ? tls : true
  const clients = new Map<string, Client>()

  function clientFor(target: string, isSecure: boolean, maxBytes: number, resolved: ChannelOptions): Client {
    const key = `${isSecure} ${maxBytes} ${target} ${resolved['grpc.default_authority'] ?? ''}`
    let client = clients.get(key)
    if (client === undefined) {
      const [oldest] = clients.keys()
      if (clients.size >= mostClients && oldest !== undefined) {
        clients.get(oldest)?.close()
        clients.delete(oldest)
      }
      client = new Client(target, isSecure ? secured(tls) : credentials.createInsecure(), {
        'grpc.max_receive_message_length': Number.isFinite(maxBytes) ? maxBytes : -1,
        'grpc.max_send_message_length': -1,
        'grpc.keepalive_time_ms': keepAliveMs,
        'grpc.keepalive_timeout_ms': 20_000,
        // A session decides itself when to try again; a channel that sulks for two minutes would answer for the peer.
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 5_000,
        ...channel,
        ...resolved,
      })
      clients.set(key, client)
    }
    return client
  }

  return {
    protocolBinding: 'GRPC',
    versions: ['1.0', '0.3', '0.2'],
    open(at, version, parts) {
      const address = grpcAddress(at.url, saysTls)
      const maxBytes = Math.max(parts.maxBodyBytes, parts.maxEventBytes)
      // With its scheme: without one gRPC would take the host `unix` for a socket of this machine.
      const direct = (): Client => clientFor(`dns:${address.authority}`, address.isSecure, maxBytes, {})
      if (resolve === undefined) return createGrpcWire(direct, address, version, parts)
      let resolved: readonly string[] | undefined
      let until = -Infinity
      const checked = async (): Promise<Client> => {
        if (performance.now() >= until) {
          resolved = await resolve(address.host, address.port).catch((reason: unknown) => {
            throw unresolved(reason, address)
          })
          until = performance.now() + resolvedMs
        }
        if (resolved === undefined) return direct()
        return clientFor(ipTarget(resolved, address), address.isSecure, maxBytes, pinned(address))
      }
      return createGrpcWire(checked, address, version, parts)
    },
    close() {
      for (const client of clients.values()) client.close()
      clients.clear()
    },
  }
}

/** Of one family, since a target has no place for two. */
function ipTarget(resolved: readonly string[], { port, authority }: GrpcAddress): string {
  const isSix = resolved[0]?.includes(':') ?? false
  const same = resolved.filter((address) => address.includes(':') === isSix)
  if (same.length === 0) throw new A2AError('UNAVAILABLE', `${authority} has no address`, { reason: 'NETWORK' })
  return isSix
    ? `ipv6:${same.map((ip) => `[${ip}]:${port}`).join()}`
    : `ipv4:${same.map((ip) => `${ip}:${port}`).join()}`
}

/** What a guard says stays as it is; a resolver's failure is a peer that cannot be reached. */
function unresolved(reason: unknown, { authority }: GrpcAddress): unknown {
  if (reason instanceof A2AError) return reason
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : 'no address'
  return new A2AError(
    'UNAVAILABLE',
    `${authority} cannot be reached: ${code}`,
    { reason: 'NETWORK' },
    { cause: reason },
  )
}

/** The name is what the peer is asked as and proves itself to be. A proxy would resolve by itself what was resolved here. */
function pinned({ host, authority }: GrpcAddress): ChannelOptions {
  return { 'grpc.default_authority': authority, 'grpc.ssl_target_name_override': host, 'grpc.enable_http_proxy': 0 }
}

function secured(tls: GrpcOptions['tls']): ChannelCredentials {
  if (typeof tls !== 'object') return credentials.createSsl()
  const pem = (given: string | Uint8Array | undefined): Buffer | null =>
    given === undefined ? null : Buffer.from(given)
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert))
}
