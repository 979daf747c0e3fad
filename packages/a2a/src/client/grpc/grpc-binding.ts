/** `grpc()`: the binding for `connect(url, { bindings: [grpc()] })`, besides the two over HTTP. */
import { Client, connectivityState, credentials, type ChannelCredentials, type ChannelOptions } from '@grpc/grpc-js'
import { A2AError } from '../../model/error.ts'
import type { ClientBinding, ClientTransport } from '../contract.ts'
import { grpcAddress, type GrpcAddress } from './grpc-address.ts'
import { createGrpcTransport } from './grpc-transport.ts'
import { versionIds } from '../../versions/version-loaders.ts'

/** Options of the gRPC client. */
export interface GrpcOptions {
  /**
   * For addresses without a scheme (`grpc://`, `grpcs://`, `http://`, `https://`). Default: TLS, unless the peer is on
   * loopback. Your own certificate authority and client certificate are in PEM.
   */
  readonly tls?:
    | boolean
    | {
        readonly ca?: string | Uint8Array
        readonly cert?: string | Uint8Array
        readonly key?: string | Uint8Array
        /** `false` accepts any certificate of the server: for tests only. Default true. */
        readonly rejectUnauthorized?: boolean
      }
  /**
   * How often a connection with an open call is pinged: over gRPC, silence does not show whether it is alive. Default five
   * minutes, the shortest interval that servers accept by default.
   */
  readonly keepAliveMs?: number
  /**
   * Resolves the host of an interface to the IP addresses that may be connected to; certificates are still checked against the
   * name. Reject to refuse the host. `undefined` leaves resolution to gRPC, which is the default. For addresses that you did
   * not choose use `guardedLookup()` of `@parley/a2a/node`.
   */
  readonly resolve?: (host: string, port: number) => Promise<readonly string[] | undefined>
  /** Other options of `@grpc/grpc-js`. */
  readonly channel?: ChannelOptions
}

/** How long resolved addresses are used before they are looked up again; open connections are kept. */
const resolvedMs = 30_000
/** How many targets keep a client. A name whose addresses change at every lookup adds no more. */
const maxClients = 64

/** The gRPC binding of a client, with its open connections. */
export interface GrpcBinding extends ClientBinding {
  open(...about: Parameters<ClientBinding['open']>): ClientTransport
  /** Closes the connections. Otherwise they end with the process, which they do not keep alive. */
  close(): void
}

/**
 * Creates the gRPC binding for `connect`, beside the two over HTTP. Needs `@grpc/grpc-js` and `@bufbuild/protobuf`.
 * Agents that use one binding share its connections.
 *
 * @example
 * ```ts
 * import { connect } from '@parley/a2a/client'
 * import { grpc } from '@parley/a2a/grpc'
 *
 * const binding = grpc()
 * const agent = await connect('https://agent.example.com', { bindings: [binding], prefer: ['GRPC'] })
 * console.log(await agent.ask('Hello'))
 * binding.close()
 * ```
 */
export function grpc(options: GrpcOptions = {}): GrpcBinding {
  const { tls, keepAliveMs = 300_000, resolve, channel } = options
  // Settings that only say how to verify leave open whether there is TLS.
  const { ca, cert, key } = typeof tls === 'object' ? tls : {}
  const tlsSetting = typeof tls === 'boolean' ? tls : (ca ?? cert ?? key) === undefined ? undefined : true
  const clients = new Map<string, Client>()

  function clientFor(target: string, isSecure: boolean, maxBytes: number, resolved: ChannelOptions): Client {
    const key = `${isSecure} ${maxBytes} ${target} ${resolved['grpc.default_authority'] ?? ''}`
    let client = clients.get(key)
    if (client !== undefined && hasFailed(client)) {
      clients.delete(key)
      // Later, so that a call that has just received this client still fails with the cause.
      setImmediate((failed: Client) => failed.close(), client)
      client = undefined
    }
    if (client === undefined) {
      const [oldest] = clients.keys()
      if (clients.size >= maxClients && oldest !== undefined) {
        clients.get(oldest)?.close()
        clients.delete(oldest)
      }
      client = new Client(target, isSecure ? tlsCredentials(tls) : credentials.createInsecure(), {
        'grpc.max_receive_message_length': Number.isFinite(maxBytes) ? maxBytes : -1,
        'grpc.max_send_message_length': -1,
        'grpc.keepalive_time_ms': keepAliveMs,
        'grpc.keepalive_timeout_ms': 20_000,
        // Otherwise a new client would take over the failed connection of another one, and fail before it tries.
        'grpc.use_local_subchannel_pool': 1,
        ...channel,
        ...resolved,
      })
      clients.set(key, client)
    }
    return client
  }

  return {
    protocolBinding: 'GRPC',
    versions: versionIds,
    open(at, version, parts) {
      const address = grpcAddress(at.url, tlsSetting)
      const maxBytes = Math.max(parts.maxBodyBytes, parts.maxEventBytes)
      // With the scheme: without it gRPC would take the host `unix` for a local socket.
      const directClient = (): Client => clientFor(`dns:${address.authority}`, address.isSecure, maxBytes, {})
      if (resolve === undefined) return createGrpcTransport(directClient, address, version, parts)
      let resolved: readonly string[] | undefined
      let until = -Infinity
      const resolvedClient = async (): Promise<Client> => {
        if (performance.now() >= until) {
          resolved = await resolve(address.host, address.port).catch((reason: unknown) => {
            throw resolveError(reason, address)
          })
          until = performance.now() + resolvedMs
        }
        if (resolved === undefined) return directClient()
        return clientFor(ipTarget(resolved, address), address.isSecure, maxBytes, pinnedHostOptions(address))
      }
      return createGrpcTransport(resolvedClient, address, version, parts)
    },
    close() {
      for (const client of clients.values()) client.close()
      clients.clear()
    },
  }
}

/**
 * Whether the last attempt to connect failed. Such a channel fails calls with its old error until it is connected again, also
 * while the next connection is being made. With a new client, the call makes an attempt and waits for it; the session decides
 * when to retry.
 */
function hasFailed(client: Client): boolean {
  return client.getChannel().getConnectivityState(false) === connectivityState.TRANSIENT_FAILURE
}

/** Uses one address family, because a target cannot contain two. */
function ipTarget(resolved: readonly string[], { port, authority }: GrpcAddress): string {
  const isSix = resolved[0]?.includes(':') ?? false
  const same = resolved.filter((address) => address.includes(':') === isSix)
  if (same.length === 0)
    throw new A2AError('UNAVAILABLE', `${authority} does not resolve to an address`, { reason: 'NETWORK' })
  return isSix
    ? `ipv6:${same.map((ip) => `[${ip}]:${port}`).join()}`
    : `ipv4:${same.map((ip) => `${ip}:${port}`).join()}`
}

/** An error of a guard stays as it is; a failed lookup means that the peer is unreachable. */
function resolveError(reason: unknown, { authority }: GrpcAddress): unknown {
  if (reason instanceof A2AError) return reason
  const code = reason instanceof Error && 'code' in reason ? String(reason.code) : 'no address'
  return new A2AError(
    'UNAVAILABLE',
    `${authority} cannot be reached: ${code}`,
    { reason: 'NETWORK' },
    { cause: reason },
  )
}

/** The name stays the authority of the request and is checked against the certificate. A proxy would resolve the name again. */
function pinnedHostOptions({ host, authority }: GrpcAddress): ChannelOptions {
  return { 'grpc.default_authority': authority, 'grpc.ssl_target_name_override': host, 'grpc.enable_http_proxy': 0 }
}

function tlsCredentials(tls: GrpcOptions['tls']): ChannelCredentials {
  if (typeof tls !== 'object') return credentials.createSsl()
  const pem = (given: string | Uint8Array | undefined): Buffer | null =>
    given === undefined ? null : Buffer.from(given)
  const { rejectUnauthorized } = tls
  const verify = rejectUnauthorized === undefined ? {} : { rejectUnauthorized }
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert), verify)
}
