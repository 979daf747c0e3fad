/**
 * As much of the `pg` package as the store uses, so that the caller brings it, in the version and with the settings of
 * their choice. Every statement stands for itself: no transaction and no setting outlives one call of `query`, which is why
 * a pooler may hand each of them to another connection.
 */
export interface PostgresQuery {
  readonly text: string
  readonly values?: unknown[]
  /** Prepared once a connection under this name. */
  readonly name?: string
  readonly query_timeout?: number
}

/** A `Pool` of `pg`. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[] }>
  on(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

/** A `Client` of `pg` that is not connected yet. */
export interface ListenClient {
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end', listener: () => void): unknown
  end(): Promise<void>
}
