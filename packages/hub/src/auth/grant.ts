/**
 * What authorized a request and can end: a key that is revoked, a session that is ended, a token that expires. Streams that it
 * opened end with it.
 */
export interface Grant {
  /** `key:<id>`, `session:<id>` or `token:<hash>`: the same on all replicas. */
  readonly id: string
  /** Milliseconds since the epoch. Then it is rechecked, or has ended if it cannot be. */
  readonly expiresAt?: number | undefined
  /** What it permits now, after a change of the configuration or a renewal; `undefined` if it has ended. */
  recheck?(): Promise<GrantRights | undefined>
}

export interface GrantRights {
  readonly scopes: readonly string[]
  readonly expiresAt?: number | undefined
}

export const keyGrantId = (keyId: string): string => `key:${keyId}`
export const sessionGrantId = (sessionId: string): string => `session:${sessionId}`
