/**
 * A session as stored, so that every replica knows it and it can be listed and ended. The tokens of an issuer are encrypted with
 * the store's keyring: a copy of the database alone does not allow signing in.
 */
import type { Json, KeyValueStore } from '@parley/a2a'
import type { Sealer } from '@parley/a2a/server'

/** What opened the session, and what it is checked against at every request. */
export type SessionGrant =
  /** The admin key, identified by its mark. */
  | { readonly by: 'key'; readonly mark: string }
  /** A token of an issuer. Its refresh token, if any, renews it. */
  | { readonly by: 'token' | 'oidc'; readonly token: string; readonly refreshToken?: string | undefined }

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

export interface SessionRecords {
  read(id: string): Promise<StoredSession | undefined>
  /** With `version`, writes only if the stored version is the same. Returns the new version, or `undefined`. */
  write(record: SessionRecord, version?: number): Promise<number | undefined>
  remove(id: string): Promise<boolean>
  /** Oldest first. */
  list(query: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly SessionRecord[]>
}

const kind = 'session'
const purpose = 'console-session-grant'

type SessionNote = Omit<SessionRecord, 'id' | 'grant'> & { readonly by: SessionGrant['by']; readonly grant: string }

export function createSessionRecords(notes: KeyValueStore, secrets: () => Promise<Sealer>): SessionRecords {
  async function open(id: string, value: Json): Promise<SessionRecord> {
    const { by: _, grant, ...rest } = value as unknown as SessionNote
    const text = await (await secrets()).unseal(purpose, grant, id)
    return { ...rest, id, grant: JSON.parse(text) as SessionGrant }
  }

  return {
    async read(id) {
      const note = await notes.read(kind, id)
      return note === undefined ? undefined : { record: await open(id, note.value), version: note.version }
    },
    async write({ id, grant, ...rest }, version) {
      const sealed = await (await secrets()).seal(purpose, JSON.stringify(grant), id)
      const kept = JSON.parse(JSON.stringify({ ...rest, by: grant.by, grant: sealed } satisfies SessionNote)) as Json
      return notes.write(kind, { key: id, value: kept, expiresAt: rest.expiresAt }, version)
    },
    remove: (id) => notes.remove(kind, id),
    async list({ after, limit }) {
      const found = await notes.list(kind, { limit, ...(after !== undefined ? { after } : {}) })
      return Promise.all(found.map(({ key, value }) => open(key, value)))
    },
  }
}
