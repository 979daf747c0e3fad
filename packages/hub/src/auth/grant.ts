/**
 * What authorized a request and can end: a key that is revoked, a session that is ended, a token that expires. Its streams end with
 * it.
 */
export interface Grant {
  /** `key:<id>`, `session:<id>` or `token:<hash>`: the same on all replicas. */
  readonly id: string
  /** Milliseconds since the epoch. The grant is then rechecked, or ends if it cannot be. */
  readonly expiresAt?: number | undefined
  /** The current permissions, after a configuration change or a renewal; `undefined` if the grant has ended. */
  recheck?(): Promise<GrantRights | undefined>
}

export interface GrantRights {
  readonly scopes: readonly string[]
  readonly expiresAt?: number | undefined
}

export const keyGrantId = (keyId: string): string => `key:${keyId}`
export const sessionGrantId = (sessionId: string): string => `session:${sessionId}`
