/** What `serve` needs of a gRPC listener, without types of the gRPC library, which is optional. */

export interface GrpcTls {
  /** PEM: the certificate with its chain, and its key. */
  readonly cert: string | Uint8Array
  readonly key: string | Uint8Array
  /** PEM: the authority that signs client certificates. If set, clients without a certificate are rejected (mTLS). */
  readonly clientCa?: string | Uint8Array
}

export interface GrpcServerOptions {
  /** Default 3001; 0 picks a free port. */
  readonly port?: number
  /** Default 127.0.0.1: this machine only. */
  readonly host?: string
  readonly tls?: GrpcTls
  /** The HTTP port of the same host, if any: for the urls in a card that is requested over gRPC. */
  readonly httpPort?: number
  /** Whether that port uses TLS. */
  readonly httpIsSecure?: boolean
  /** The agent that handles every call to this port. Default: the agent that a call names, else the default agent. */
  readonly agent?: string
}

export interface GrpcListener {
  /** `127.0.0.1:3001` */
  readonly address: string
  readonly port: number
  /** Number of unanswered calls; streams that have begun do not count. */
  answering(): number
  /** Accepts no new calls. Resolves when the open ones have ended, including streams. */
  drain(): Promise<void>
  /** Closes what is still open. */
  close(): void
}
