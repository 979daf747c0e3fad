/**
 * The part of the `pg` package that the store uses, so that the caller provides it, in the version and with the settings of their
 * choice. Every statement is self-contained: no transaction and no setting outlives one call of `query`, so a pooler may run each
 * on another connection.
 */
/** One statement, as `query` of a `pg` pool takes it. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Prepared once per connection under this name. */
  readonly name?: string
  /** In milliseconds. */
  readonly query_timeout?: number
}

/** A `Pool` of `pg`, or an object of the same shape. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[] }>
  /** Without it, the store cannot wait for a synchronous standby on new connections: see the guide "Run several replicas". */
  connect?(): Promise<PooledClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

/** A connection that was taken from a pool. */
export interface PooledClient {
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /** Returns it to the pool; `true` closes it. */
  release(destroy?: boolean): void
}

/** A `Client` of `pg` that is not connected yet, or an object of the same shape. */
export interface ListenClient {
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  end(): Promise<void>
}

/**
 * A `Client` of `pg` that is not connected yet, or an object of the same shape: the one connection on which a whole store is read or
 * loaded in one transaction.
 */
export interface PostgresClient {
  connect(): Promise<unknown>
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}
