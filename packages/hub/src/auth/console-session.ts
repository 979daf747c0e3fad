/**
 * Console sessions: a cookie signed by the keyring, and a record of the grant that opened the session. The record is checked at
 * every request, so that a session never outlives its grant. A browser sends a cookie with every request, so each change and each
 * agent call must also send the CSRF token, which only pages of the console can read.
 */
import { newId } from '@parley/a2a'
import { omitUndefined, type Sealer, type Signer } from '@parley/a2a/internal'
import type { KeyValueStore } from '@parley/a2a/stores'
import { createCredentialUse } from './credential-use.ts'
import { sha256Hex } from './key-format.ts'
import { createSessionCheck, grantExpiry, createSessionRecords } from './session-check.ts'
import type { SessionCheckDeps, StoredSession, SessionGrant, SessionRecord } from './session-check.ts'

export interface ConsoleSession {
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

export interface ListedSession extends ConsoleSession {
  /** The time of the last request, or of its creation. */
  readonly lastUsedAt: number
}

export interface OpenedSession extends ConsoleSession {
  readonly cookie: string
  /** The value for `X-CSRF-Token`. */
  readonly csrf: string
}

export interface NewSessionOptions {
  readonly subject: string
  readonly grant: SessionGrant
  /** The network address that created it. */
  readonly from?: string | undefined
}

export interface ConsoleSessions {
  /** For a session opened by this admin key: it ends with the key. */
  adminGrant(key: string): SessionGrant
  open(session: NewSessionOptions, isSecure: boolean): Promise<OpenedSession>
  /** Whether the `Cookie` header has one, valid or not. */
  hasCookie(cookies: string | undefined): boolean
  /** The session of the `Cookie` header, if its grant is valid. Throws UNAVAILABLE if the issuer does not answer. */
  read(cookies: string | undefined): Promise<ConsoleSession | undefined>
  /** The same, by session id. */
  check(id: string): Promise<ConsoleSession | undefined>
  list(query: { readonly after?: string | undefined; readonly limit: number }): Promise<readonly ListedSession[]>
  csrfOf(session: Pick<ConsoleSession, 'id'>): Promise<string>
  verifyCsrf(session: Pick<ConsoleSession, 'id'>, csrf: string | undefined): Promise<boolean>
  /** Returns whether there was one. */
  end(id: string): Promise<boolean>
  /** The cookie that replaces that of an ended session. */
  emptyCookie(isSecure: boolean): string
  /** Drops it from the cache. */
  forget(id: string): void
  /** Writes pending data. */
  close(): Promise<void>
}

export interface ConsoleSessionsDeps extends Pick<
  SessionCheckDeps,
  'isAdminMark' | 'prove' | 'renew' | 'pause' | 'now'
> {
  /** Measures how long a record is cached. */
  readonly monotonicNow: () => number
  secrets(): Promise<Signer & Sealer>
  readonly kv: KeyValueStore
  /** Called when a session has ended, for any reason, to end its streams. */
  onEnded?(id: string): Promise<void>
  /** Called when the times of use could not be written. */
  onError?(cause: unknown): void
}

export const csrfHeader = 'x-csrf-token'
/** With the prefix browsers restrict it to this host and to TLS (RFC 6265bis); without TLS they would reject it. */
const cookieNames = { secure: '__Host-parley-session', plain: 'parley-session' }
const lifetimeMs = 12 * 3_600_000
/** How long another replica may accept a session that was ended here. */
const sessionCacheMs = 1_000
const maxCached = 1_000
export const consoleSessionPurposes = { session: 'console-session', csrf: 'console-csrf' } as const
export const adminSubject = 'admin'

interface CookieClaims {
  readonly id: string
  readonly exp: number
}

interface CachedSession {
  readonly kept: Promise<StoredSession | undefined>
  /** On the monotonic clock. */
  readonly until: number
}

export function createConsoleSessions(parts: ConsoleSessionsDeps): ConsoleSessions {
  const { secrets, kv, now, monotonicNow, onError = () => {} } = parts
  const records = createSessionRecords(kv, secrets)
  const checkGrant = createSessionCheck({ ...parts, records })
  const use = createCredentialUse({ kv, now, kind: 'session-use', retentionMs: lifetimeMs, onError })
  const cache = new Map<string, CachedSession>()

  function loadCached(id: string): Promise<StoredSession | undefined> {
    const seen = cache.get(id)
    if (seen !== undefined && seen.until > monotonicNow()) return seen.kept
    if (cache.size >= maxCached) cache.clear()
    const entry = { kept: records.read(id), until: monotonicNow() + sessionCacheMs }
    cache.set(id, entry)
    // A failed read is not cached.
    entry.kept.catch(() => cache.get(id) === entry && cache.delete(id))
    return entry.kept
  }

  async function check(id: string): Promise<ConsoleSession | undefined> {
    const kept = await loadCached(id)
    if (kept === undefined) return undefined
    const record = await checkGrant(kept)
    if (record === undefined) {
      await end(id)
      return undefined
    }
    if (record !== kept.record) cache.delete(id)
    return toSession(record)
  }

  async function end(id: string): Promise<boolean> {
    const existed = await records.remove(id)
    // Set instead of deleted: a read already in progress must not put the old record back.
    cache.set(id, { kept: Promise.resolve(undefined), until: monotonicNow() + sessionCacheMs })
    if (existed) await parts.onEnded?.(id)
    return existed
  }

  async function verifiedId(token: string): Promise<string | undefined> {
    const dot = token.indexOf('.')
    const text = token.slice(0, dot)
    if (dot < 1 || !(await (await secrets()).verify(consoleSessionPurposes.session, text, token.slice(dot + 1))))
      return undefined
    const { id, exp } = JSON.parse(Buffer.from(text, 'base64url').toString()) as CookieClaims
    return exp <= now() ? undefined : id
  }

  const csrfOf = async ({ id }: Pick<ConsoleSession, 'id'>): Promise<string> =>
    (await secrets()).sign(consoleSessionPurposes.csrf, id)

  return {
    adminGrant: (key) => ({ by: 'key', mark: adminKeyMark(sha256Hex(key)) }),
    async open({ subject, grant, from }, isSecure) {
      const createdAt = now()
      const latest = createdAt + lifetimeMs
      const record = { id: newId(), subject, grant, createdAt, expiresAt: latest, ...(from ? { from } : {}) }
      const canRenew = grant.by !== 'key' && grant.refreshToken !== undefined
      const opened: SessionRecord = canRenew ? record : { ...record, expiresAt: grantExpiry(record) }
      await records.write(opened)
      const claims: CookieClaims = { id: opened.id, exp: opened.expiresAt }
      const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
      const token = `${text}.${await (await secrets()).sign(consoleSessionPurposes.session, text)}`
      const cookie = cookieOf(token, opened.expiresAt - createdAt, isSecure)
      return { ...toSession(opened), cookie, csrf: await csrfOf(opened) }
    },
    hasCookie: (cookies) => tokensIn(cookies).length > 0,
    async read(cookies) {
      for (const token of tokensIn(cookies)) {
        const id = await verifiedId(token)
        const session = id === undefined ? undefined : await check(id)
        if (session === undefined) continue
        use.recordUse(session.id)
        return session
      }
      return undefined
    },
    check,
    async list(query) {
      const found = (await records.list(query)).map(toSession)
      const lastUsed = await use.lastUsed(found.map(({ id }) => id))
      return found.map((session) => ({ ...session, lastUsedAt: lastUsed.get(session.id) ?? session.createdAt }))
    },
    csrfOf,
    verifyCsrf: async ({ id }, csrf) =>
      csrf !== undefined && (await secrets()).verify(consoleSessionPurposes.csrf, id, csrf),
    end,
    emptyCookie: (isSecure) => cookieOf('', 0, isSecure),
    forget: (id) => void cache.delete(id),
    close: use.close,
  }
}

function toSession(record: SessionRecord): ConsoleSession {
  const { id, subject, grant, createdAt, expiresAt, from } = record
  const grantExpiresAt = grantExpiry(record)
  return { id, subject, by: grant.by, createdAt, expiresAt, grantExpiresAt, ...omitUndefined({ from }) }
}

/** Identifies an admin key without revealing it. */
export function adminKeyMark(adminHash: string): string {
  return sha256Hex(`console ${adminHash}`).slice(0, 16)
}

function tokensIn(cookies = ''): readonly string[] {
  const pairs = cookies.split(';').map((pair) => pair.trim())
  return Object.values(cookieNames).flatMap((name) =>
    pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1)),
  )
}

function cookieOf(value: string, lifetime: number, isSecure: boolean): string {
  const name = isSecure ? cookieNames.secure : cookieNames.plain
  const seconds = Math.floor(lifetime / 1_000)
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}${isSecure ? '; Secure' : ''}`
}
