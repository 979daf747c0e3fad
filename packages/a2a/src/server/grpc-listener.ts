/** What `serve` knows of a listener for gRPC, without a word of the library it is made with: not everybody has that. */

export interface GrpcTls {
  /** PEM: the certificate with the chain that leads to it, and its key. */
  readonly cert: string | Uint8Array
  readonly key: string | Uint8Array
  /** PEM: who signs the certificates of clients. With it a client without one is not let in (mTLS). */
  readonly clientCa?: string | Uint8Array
}

export interface GrpcServerOptions {
  /** Default 3001; 0 takes a free one. */
  readonly port?: number
  /** Default 127.0.0.1: this machine only. */
  readonly host?: string
  readonly tls?: GrpcTls
  /** The port at which the same host speaks HTTP, if it does: for the urls of a card that is asked for by gRPC. */
  readonly httpPort?: number
  /** Whether it does so by TLS. */
  readonly httpIsSecure?: boolean
  /** The one agent that every call to this port is for. Default: the one that a call names, or else the default agent. */
  readonly agent?: string
}

export interface GrpcListener {
  /** `127.0.0.1:3001` */
  readonly address: string
  readonly port: number
  /** How many calls wait for their answer; streams that have begun are not among them. */
  answering(): number
  /** Takes no new calls. Resolves when the open ones have ended, streams too. */
  drain(): Promise<void>
  /** Cuts off what is still open. */
  close(): void
}
