/** The options of `serve()` and the server that it returns. */
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { WebhookGuardOptions } from '../client/egress/guarded-fetch.ts'
import type { LogStore } from '../stores/log-store.ts'
import type { Store } from '../stores/store.ts'
import type { ConnectionCounts, ConnectionLimits } from './http/connections.ts'
import type { GrpcTls } from './grpc/grpc-listener.ts'
import type { Handler } from './handler.ts'
import type { AgentsOption, ServerOptions, Limits } from './options.ts'
import type { PushOptions } from './push/push-options.ts'

/**
 * The push options of a handler, with a guard that keeps webhooks off your network; `allow` lists exceptions. Default
 * `fetch`: `guardedFetch`.
 */
export type ServePushOptions = Omit<PushOptions, 'fetch'> & Partial<Pick<PushOptions, 'fetch'>> & WebhookGuardOptions

/** Options of `serve`: those of the server and its agents, the listeners, and the store. */
export type ServeOptions = Omit<ServerOptions, 'push' | 'limits'> &
  AgentsOption & {
    /** Limits of requests, callers and connections. Default: see each limit. */
    readonly limits?: Partial<Limits & ConnectionLimits>
    /** How long a client may take to send the head of a request, counted from the connection. Default 60 s. */
    readonly headTimeoutMs?: number
    /** How long a client may take to send a whole request. Default 5 min. */
    readonly requestTimeoutMs?: number
    /** Enables push notifications. Default: off. */
    readonly push?: true | ServePushOptions
    /** The HTTP port. Default 3000; 0 picks a free port. */
    readonly port?: number
    /** The address to listen on. Default 127.0.0.1: loopback only. */
    readonly host?: string
    /** Serves HTTPS. Default: no TLS, for this machine and for proxies that terminate it. */
    readonly tls?: ServeTls
    /**
     * Sees every request before the agents do, unless its Host or its page is refused (`hosts`), and may answer it; it returns `true`
     * if it took the request. A shutdown waits for its responses as for all others.
     */
    readonly middleware?: Middleware
    /** Also serves gRPC at this port; 0 picks a free port. Default: no gRPC. Needs `@grpc/grpc-js` and `@bufbuild/protobuf`. */
    readonly grpcPort?: number
    /** TLS of the gRPC port. Default: certificate and key of `tls`, if set. */
    readonly grpcTls?: GrpcTls
    /**
     * Does not print the address. Default false: the address goes to `log`, or without a `log` to stderr in two lines, except under
     * `node --test`. On a terminal, a third line names the store.
     */
    readonly quiet?: boolean
    /** Where tasks are kept: a store, or a log store over your own tables. Default: SQLite in `dataDir`. Closed with the server. */
    readonly store?: Store | LogStore
    /** The directory of the default store, created if it is missing. Default `./.parley`. */
    readonly dataDir?: string
    /** How long `close` waits for requests in progress, and for agents that cannot be resumed. Default 5 s. */
    readonly drainMs?: number
    /** How long `close` keeps serving after `/readyz` reports the shutdown, so that load balancers can react. Default 0. */
    readonly shutdownDelayMs?: number
  }

/** The certificate of the HTTPS listener, and whether clients are asked for theirs. */
export interface ServeTls {
  /** PEM: the certificate with its chain. */
  readonly cert: string | Uint8Array
  /** PEM: the private key of `cert`. */
  readonly key: string | Uint8Array
  /** PEM: the authority that signs client certificates. */
  readonly ca?: string | Uint8Array
  /**
   * Requests a certificate from clients, for `mtls()` or a function of your own. A client without one that `ca` vouches for is
   * accepted as a client without a certificate. Default: true if `ca` is set.
   */
  readonly requestCert?: boolean
  /** The max-age of HSTS, which makes browsers use TLS only; 0 makes them forget it. Default 1 year. */
  readonly hstsSeconds?: number
}

/** Sees every HTTP request before the agents do. Returns `true` if it answers the request. */
export type Middleware = (request: IncomingMessage, response: ServerResponse) => boolean

/** A running server, as `serve` returns it. */
export interface Server {
  /** The address, such as `http://127.0.0.1:3000`. */
  readonly url: string
  /** The HTTP port: the one that was chosen if the option was 0. */
  readonly port: number
  /** Set if gRPC is enabled. */
  readonly grpcPort?: number
  /** The dedicated gRPC ports of agents, by name. Resolves when they are open, also after agents have changed. */
  grpcPorts(): Promise<Readonly<Record<string, number>>>
  /** The listener of Node. */
  readonly server: HttpServer | HttpsServer
  /** The handler behind the listener: agents, push deliveries, cards, keys. */
  readonly handler: Handler
  /** The connections of the HTTP and gRPC listeners. */
  connections(): ConnectionCounts
  /**
   * Accepts nothing new, lets responses and agents that cannot be resumed finish within `drainMs`, then stops running turns and
   * closes the store. Other servers that share the store resume the turns at once.
   */
  close(): Promise<void>
}
