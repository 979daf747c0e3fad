/**
 * Checks whether a session is still valid: it has the current permissions of the grant that opened it, and ends with it. A token is
 * verified again with the current configuration; an expired one is renewed with its refresh token, if it has one.
 */
import { A2AError, type Caller, type Json } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { adminScope } from './scopes.ts'
import { tokenExpiry } from './token-check.ts'
import type { Sealer } from '@parley/a2a/internal'

/** The response of an issuer to a refresh token. */
export interface RenewedTokens {
  readonly token: string
  /** If absent, the previous one is still valid. */
  readonly refreshToken?: string | undefined
}

export interface SessionCheckDeps {
  readonly records: SessionRecords
  /** Whether the mark is that of a valid admin key. */
  isAdminMark(mark: string): Promise<boolean>
  /** The caller of this token by the current configuration. Throws UNAUTHENTICATED, or UNAVAILABLE. */
  prove(token: string): Promise<Caller>
  /** Asks the issuer; `undefined` if it refuses. Throws UNAVAILABLE while it does not answer. */
  renew(refreshToken: string): Promise<RenewedTokens | undefined>
  readonly now: () => number
  /** Waits a moment for another replica. Default: 100 ms. */
  pause?(): Promise<void>
}

/** The current session, or `undefined` if its grant has ended. Throws UNAVAILABLE if the issuer does not answer. */
export type SessionCheck = (kept: StoredSession) => Promise<SessionRecord | undefined>

/** How long a replica may take to renew before another tries. */
const renewalLeaseMs = 20_000
const maxPauses = 200

export function createSessionCheck(parts: SessionCheckDeps): SessionCheck {
  const { records, now } = parts
  const pause = parts.pause ?? (() => new Promise<void>((resolve) => setTimeout(resolve, 100)))
  /** One request to the issuer for a session, however many requests wait for it. */
  const renewing = new Map<string, Promise<SessionRecord | undefined>>()

  async function check({ record }: StoredSession): Promise<SessionRecord | undefined> {
    const { grant, subject, expiresAt } = record
    if (expiresAt <= now()) return undefined
    if (grant.by === 'key') return (await parts.isAdminMark(grant.mark)) ? record : undefined
    if (tokenExpiry(grant.token) <= now()) return renewed(record.id)
    return (await isAdmin(grant.token, subject)) ? record : undefined
  }

  async function isAdmin(token: string, subject: string): Promise<boolean> {
    try {
      const { id, scopes } = await parts.prove(token)
      return id === subject && scopes?.includes(adminScope) === true
    } catch (reason) {
      if (reason instanceof A2AError && reason.code === 'UNAUTHENTICATED') return false
      throw reason
    }
  }

  function renewed(id: string): Promise<SessionRecord | undefined> {
    let asked = renewing.get(id)
    if (asked === undefined) {
      asked = renew(id).finally(() => renewing.delete(id))
      renewing.set(id, asked)
    }
    return asked
  }

  /** An issuer that rotates refresh tokens accepts each of them once: the stored record decides which replica asks. */
  async function renew(id: string): Promise<SessionRecord | undefined> {
    for (let pauses = 0; pauses < maxPauses; pauses += 1) {
      const kept = await records.read(id)
      if (kept === undefined || kept.record.grant.by === 'key') return undefined
      const { record, version } = kept
      if (tokenExpiry(kept.record.grant.token) > now()) return check(kept)
      if (kept.record.grant.refreshToken === undefined) return undefined
      if ((record.renewingUntil ?? 0) <= now()) {
        const claimed = await records.write({ ...record, renewingUntil: now() + renewalLeaseMs }, version)
        if (claimed !== undefined) return exchange(record, kept.record.grant, claimed)
      }
      await pause()
    }
    throw new A2AError('UNAVAILABLE', 'The session is being renewed: try again')
  }

  async function exchange(
    record: SessionRecord,
    { refreshToken = '', by }: Exclude<SessionGrant, { by: 'key' }>,
    version: number,
  ): Promise<SessionRecord | undefined> {
    const { renewingUntil: _, ...before } = record
    let tokens: RenewedTokens | undefined
    try {
      tokens = await parts.renew(refreshToken)
    } catch (reason) {
      await records.write(before, version).catch(() => {})
      throw reason
    }
    if (tokens === undefined || tokenExpiry(tokens.token) <= now()) return undefined
    const after = { ...before, grant: { by, token: tokens.token, refreshToken: tokens.refreshToken ?? refreshToken } }
    // Stored first: the previous refresh token may be invalid now. A session that was ended meanwhile is not created again.
    const written = await records.write(after, version)
    return written === undefined ? undefined : check({ record: after, version: written })
  }

  return check
}

/** When the grant expires and has to be checked again. */
export function grantExpiry({ grant, expiresAt }: SessionRecord): number {
  return grant.by === 'key' ? expiresAt : Math.min(expiresAt, tokenExpiry(grant.token))
}

/** What opened the session, and what it is checked against at every request. */
export type SessionGrant =
  /** The admin key, identified by its mark. */
  | { readonly by: 'key'; readonly mark: string }
  /** A token of an issuer. Its refresh token, if any, renews it. */
  | { readonly by: 'token' | 'oidc'; readonly token: string; readonly refreshToken?: string | undefined }

/**
 * A session as stored, so that every replica knows it and it can be listed and ended. The tokens of an issuer are encrypted with
 * the store's keyring: a copy of the database alone does not allow signing in.
 */
export interface SessionRecord {
  readonly id: string
  /** `admin`, or the caller that a token named. */
  readonly subject: string
  readonly grant: SessionGrant
  readonly createdAt: number
  /** The latest end, even if the grant is renewed. */
  readonly expiresAt: number
  /** The network address that created it. */
  readonly from?: string | undefined
  /** Set while a replica asks the issuer for another token. */
  readonly renewingUntil?: number | undefined
}

export interface StoredSession {
  readonly record: SessionRecord
  readonly version: number
}

interface SessionRecords {
  read(id: string): Promise<StoredSession | undefined>
  /** With `version`, writes only if the stored version is the same. Returns the new version, or `undefined`. */
  write(record: SessionRecord, version?: number): Promise<number | undefined>
  remove(id: string): Promise<boolean>
  /** Oldest first. */
  list(query: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly SessionRecord[]>
}

const kind = 'session'
export const sessionGrantPurpose = 'console-session-grant'

type SessionNote = Omit<SessionRecord, 'id' | 'grant'> & { readonly by: SessionGrant['by']; readonly grant: string }

export function createSessionRecords(kv: KeyValueStore, secrets: () => Promise<Sealer>): SessionRecords {
  async function open(id: string, value: Json): Promise<SessionRecord> {
    const { by: _, grant, ...rest } = value as unknown as SessionNote
    const text = await (await secrets()).unseal(sessionGrantPurpose, grant, id)
    return { ...rest, id, grant: JSON.parse(text) as SessionGrant }
  }

  return {
    async read(id) {
      const stored = await kv.read(kind, id)
      return stored === undefined ? undefined : { record: await open(id, stored.value), version: stored.version }
    },
    async write({ id, grant, ...rest }, version) {
      const sealed = await (await secrets()).seal(sessionGrantPurpose, JSON.stringify(grant), id)
      const kept = JSON.parse(JSON.stringify({ ...rest, by: grant.by, grant: sealed } satisfies SessionNote)) as Json
      return kv.write(kind, { key: id, value: kept, expiresAt: rest.expiresAt }, version)
    },
    remove: (id) => kv.remove(kind, id),
    async list({ after, limit }) {
      const found = await kv.list(kind, { limit, ...(after !== undefined ? { after } : {}) })
      return Promise.all(found.map(({ key, value }) => open(key, value)))
    },
  }
}
