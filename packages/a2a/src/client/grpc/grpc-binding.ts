/** `grpc()`: the binding that `connect(url, { bindings: [grpc()] })` takes besides the two over HTTP. */
import { Client, credentials } from '@grpc/grpc-js'
import type { ChannelCredentials, ChannelOptions } from '@grpc/grpc-js'
import type { ClientBinding } from '../contract.ts'
import { grpcAddress } from './address.ts'
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
  /** Everything else that `@grpc/grpc-js` can be told. */
  readonly channel?: ChannelOptions
}

export interface GrpcBinding extends ClientBinding {
  /** Ends the connections. Without it they end with the process, which they do not keep. */
  close(): void
}

export function grpc(options: GrpcOptions = {}): GrpcBinding {
  const { tls, keepAliveMs = 300_000, channel } = options
  const saysTls = tls === undefined || typeof tls === 'boolean' ? tls : true
  const clients = new Map<string, Client>()

  function clientFor(target: string, isSecure: boolean, maxBytes: number): Client {
    const key = `${isSecure} ${maxBytes} ${target}`
    let client = clients.get(key)
    if (client === undefined) {
      client = new Client(target, isSecure ? secured(tls) : credentials.createInsecure(), {
        'grpc.max_receive_message_length': Number.isFinite(maxBytes) ? maxBytes : -1,
        'grpc.max_send_message_length': -1,
        'grpc.keepalive_time_ms': keepAliveMs,
        'grpc.keepalive_timeout_ms': 20_000,
        // A session decides itself when to try again; a channel that sulks for two minutes would answer for the peer.
        'grpc.initial_reconnect_backoff_ms': 100,
        'grpc.max_reconnect_backoff_ms': 5_000,
        ...channel,
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
      return createGrpcWire(clientFor(address.target, address.isSecure, maxBytes), address, version, parts)
    },
    close() {
      for (const client of clients.values()) client.close()
      clients.clear()
    },
  }
}

function secured(tls: GrpcOptions['tls']): ChannelCredentials {
  if (typeof tls !== 'object') return credentials.createSsl()
  const pem = (given: string | Uint8Array | undefined): Buffer | null =>
    given === undefined ? null : Buffer.from(given)
  return credentials.createSsl(pem(tls.ca), pem(tls.key), pem(tls.cert))
}
