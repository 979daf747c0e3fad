/**
 * The proof by which a request was let in, as far as it can end: a key that is revoked, a session that is ended, a token
 * that expires. What it opened ends with it.
 */
export interface Grant {
  /** `key:<id>`, `session:<id>`, `token:<hash>`: by which all replicas know it. */
  readonly id: string
  /** Milliseconds since the epoch; at that time it is looked at again, or has ended if it cannot be. */
  readonly expiresAt?: number | undefined
  /** What it permits now, after a change of the configuration or a renewal; nothing if it has ended. */
  recheck?(): Promise<GrantRights | undefined>
}

export interface GrantRights {
  readonly scopes: readonly string[]
  readonly expiresAt?: number | undefined
}

export const keyGrantId = (keyId: string): string => `key:${keyId}`
export const sessionGrantId = (sessionId: string): string => `session:${sessionId}`
