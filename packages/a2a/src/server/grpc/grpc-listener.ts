/** What `serve` needs of a gRPC listener, without types of the gRPC library, which is optional. */

/** The certificate of a gRPC listener. */
export interface GrpcTls {
  /** PEM: the certificate with its chain. */
  readonly cert: string | Uint8Array
  /** PEM: the private key of `cert`. */
  readonly key: string | Uint8Array
  /** PEM: the authority that signs client certificates. If set, clients without a certificate are rejected (mTLS). */
  readonly clientCa?: string | Uint8Array
}

/** Options of `createGrpcServer`. */
export interface GrpcServerOptions {
  /** The port to listen on. Default 3001; 0 picks a free port. */
  readonly port?: number
  /** The address to listen on. Default 127.0.0.1: loopback only. */
  readonly host?: string
  /** Serves TLS. Default: no TLS. */
  readonly tls?: GrpcTls
  /** The HTTP port of the same host, if any: for the urls in a card that is requested over gRPC. */
  readonly httpPort?: number
  /** Whether that port uses TLS. */
  readonly httpIsSecure?: boolean
  /** The agent that handles every call to this port. Default: the agent that a call names, else the default agent. */
  readonly agent?: string
}

export interface GrpcListener {
  /** The address with the port, such as `127.0.0.1:3001`. */
  readonly address: string
  readonly port: number
  /** Number of unanswered calls; streams that have begun do not count. */
  answering(): number
  /** Accepts no new calls. Resolves when the open ones have ended, including streams. */
  drain(): Promise<void>
  /** Closes what is still open. */
  close(): void
}
