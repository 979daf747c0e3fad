/**
 * Who signed in at the console: a cookie that the keyring signed, and a record of what opened the session. The record is
 * checked at every request, so that a session never outlives the right that opened it. A cookie is sent by a browser whether
 * it is meant or not; what changes something, and every call of an agent, has to show the session's other half as well,
 * which only a page of ours can read.
 */
import { newId, type Notes } from '@parley/a2a'
import type { Sealer, Signer } from '@parley/a2a/server'
import { createCredentialUse } from './credential-use.ts'
import { hashOf } from './key-format.ts'
import { createSessionCheck, grantExpiry, type SessionCheckDeps } from './session-check.ts'
import { createSessionRecords, type StoredSession, type SessionGrant, type SessionRecord } from './session-record.ts'

export interface Session {
  readonly id: string
  /** `admin`, or the caller that a token named. */
  readonly subject: string
  /** The kind of grant that opened it. */
  readonly by: SessionGrant['by']
  readonly createdAt: number
  /** Milliseconds since the epoch: the latest end. */
  readonly expiresAt: number
  /** When its grant expires, unless it is renewed. */
  readonly grantExpiresAt: number
  readonly from?: string | undefined
}

export interface ListedSession extends Session {
  /** The last request, or when it was opened. */
  readonly lastUsedAt: number
}

export interface OpenedSession extends Session {
  readonly cookie: string
  /** To be shown in `X-CSRF-Token`. */
  readonly csrf: string
}

export interface NewSession {
  readonly subject: string
  readonly grant: SessionGrant
  /** The address that it is opened from. */
  readonly from?: string | undefined
}

export interface Sessions {
  /** For a session that the admin key opens. */
  readonly adminGrant: SessionGrant
  open(session: NewSession, isSecure: boolean): Promise<OpenedSession>
  /** Whether the `Cookie` header has one, good or not. */
  isShown(cookies: string | undefined): boolean
  /** The session of the `Cookie` header, if its grant is valid. Throws UNAVAILABLE if the issuer does not answer. */
  read(cookies: string | undefined): Promise<Session | undefined>
  /** The same, by its id. */
  check(id: string): Promise<Session | undefined>
  list(query: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly ListedSession[]>
  csrfOf(session: Pick<Session, 'id'>): Promise<string>
  isMeant(session: Pick<Session, 'id'>, csrf: string | undefined): Promise<boolean>
  /** Answers whether there was one. */
  end(id: string): Promise<boolean>
  /** The cookie that takes the place of one whose session has ended. */
  emptyCookie(isSecure: boolean): string
  /** Drops it from the cache. */
  forget(id: string): void
  /** Writes what is pending. */
  close(): Promise<void>
}

export interface SessionsParts extends Pick<SessionCheckDeps, 'adminMark' | 'prove' | 'renew' | 'pause' | 'now'> {
  /** For how long a record that was read is believed. */
  readonly monotonicNow: () => number
  secrets(): Promise<Signer & Sealer>
  readonly notes: Notes
  /** Called when a session has ended, for any reason, to end its streams. */
  ended?(id: string): Promise<void>
  /** Called when the times of use could not be written. */
  failed?(cause: unknown): void
}

export const csrfHeader = 'x-csrf-token'
/** With the prefix browsers keep it to this host and to TLS (RFC 6265bis); without TLS they would not take it. */
const names = { secure: '__Host-parley-session', plain: 'parley-session' }
const lifetimeMs = 12 * 3_600_000
/** How long another replica may go on taking a session that was ended here. */
const believedMs = 1_000
const mostBelieved = 1_000
const purpose = { session: 'console-session', csrf: 'console-csrf' }
export const adminSubject = 'admin'

interface Claims {
  readonly id: string
  readonly exp: number
}

interface CachedSession {
  readonly kept: Promise<StoredSession | undefined>
  /** On the monotonic clock. */
  readonly until: number
}

export function createSessions(parts: SessionsParts): Sessions {
  const { secrets, notes, adminMark, now, monotonicNow, failed = () => {} } = parts
  const records = createSessionRecords(notes, secrets)
  const checkGrant = createSessionCheck({ ...parts, records })
  const use = createCredentialUse({ notes, now, kind: 'session-use', keptMs: lifetimeMs, failed })
  const believed = new Map<string, CachedSession>()

  function look(id: string): Promise<StoredSession | undefined> {
    const seen = believed.get(id)
    if (seen !== undefined && seen.until > monotonicNow()) return seen.kept
    if (believed.size >= mostBelieved) believed.clear()
    const entry = { kept: records.read(id), until: monotonicNow() + believedMs }
    believed.set(id, entry)
    // What could not be read is asked for again.
    entry.kept.catch(() => believed.get(id) === entry && believed.delete(id))
    return entry.kept
  }

  async function check(id: string): Promise<Session | undefined> {
    const kept = await look(id)
    if (kept === undefined) return undefined
    const record = await checkGrant(kept)
    if (record === undefined) {
      await end(id)
      return undefined
    }
    if (record !== kept.record) believed.delete(id)
    return shownSession(record)
  }

  async function end(id: string): Promise<boolean> {
    const wasThere = await records.remove(id)
    // Set and not only forgotten: a look that is under way since before must not put the old one back.
    believed.set(id, { kept: Promise.resolve(undefined), until: monotonicNow() + believedMs })
    if (wasThere) await parts.ended?.(id)
    return wasThere
  }

  async function idIn(token: string): Promise<string | undefined> {
    const dot = token.indexOf('.')
    const text = token.slice(0, dot)
    if (dot < 1 || !(await (await secrets()).verify(purpose.session, text, token.slice(dot + 1)))) return undefined
    const { id, exp } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims
    return exp <= now() ? undefined : id
  }

  const csrfOf = async ({ id }: Pick<Session, 'id'>): Promise<string> => (await secrets()).sign(purpose.csrf, id)

  return {
    adminGrant: { by: 'key', mark: adminMark },
    async open({ subject, grant, from }, isSecure) {
      const createdAt = now()
      const latest = createdAt + lifetimeMs
      const record = { id: newId(), subject, grant, createdAt, expiresAt: latest, ...(from ? { from } : {}) }
      const canRenew = grant.by !== 'key' && grant.refreshToken !== undefined
      const opened: SessionRecord = canRenew ? record : { ...record, expiresAt: grantExpiry(record) }
      await records.write(opened)
      const claims: Claims = { id: opened.id, exp: opened.expiresAt }
      const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
      const token = `${text}.${await (await secrets()).sign(purpose.session, text)}`
      const cookie = cookieOf(token, opened.expiresAt - createdAt, isSecure)
      return { ...shownSession(opened), cookie, csrf: await csrfOf(opened) }
    },
    isShown: (cookies) => tokensIn(cookies).length > 0,
    async read(cookies) {
      for (const token of tokensIn(cookies)) {
        const id = await idIn(token)
        const session = id === undefined ? undefined : await check(id)
        if (session === undefined) continue
        use.used(session.id)
        return session
      }
      return undefined
    },
    check,
    async list(query) {
      const found = (await records.list(query)).map(shownSession)
      const lastUsed = await use.lastUsed(found.map(({ id }) => id))
      return found.map((session) => ({ ...session, lastUsedAt: lastUsed.get(session.id) ?? session.createdAt }))
    },
    csrfOf,
    isMeant: async ({ id }, csrf) => csrf !== undefined && (await secrets()).verify(purpose.csrf, id, csrf),
    end,
    emptyCookie: (isSecure) => cookieOf('', 0, isSecure),
    forget: (id) => void believed.delete(id),
    close: use.close,
  }
}

function shownSession(record: SessionRecord): Session {
  const { id, subject, grant, createdAt, expiresAt, from } = record
  const grantExpiresAt = grantExpiry(record)
  return { id, subject, by: grant.by, createdAt, expiresAt, grantExpiresAt, ...(from !== undefined ? { from } : {}) }
}

/** What tells one admin key from another, and nothing about either. */
export function markOf(adminHash: string): string {
  return hashOf(`console ${adminHash}`).slice(0, 16)
}

function tokensIn(cookies = ''): readonly string[] {
  const pairs = cookies.split(';').map((pair) => pair.trim())
  return Object.values(names).flatMap((name) =>
    pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)),
  )
}

function cookieOf(value: string, lifetime: number, isSecure: boolean): string {
  const name = isSecure ? names.secure : names.plain
  const seconds = Math.floor(lifetime / 1_000)
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`
}
