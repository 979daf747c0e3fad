/**
 * Who signed in at the console: a cookie that the keyring signed, so that every replica knows it and no store is asked for
 * one that is good. A cookie is sent by a browser whether it is meant or not; what changes something, and every call of an
 * agent, has to show the session's other half as well, which only a page of ours can read.
 */
import { newId, type Notes } from '@parley/a2a'
import type { Signer } from '@parley/a2a/server'
import { hashOf } from './key-format.ts'

export interface Session {
  readonly id: string
  /** `admin`, or the caller that a token named. */
  readonly subject: string
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

export interface OpenedSession extends Session {
  readonly cookie: string
  /** To be shown in `X-CSRF-Token`. */
  readonly csrf: string
}

export interface Sessions {
  open(subject: string, isSecure: boolean): Promise<OpenedSession>
  /** Whether the `Cookie` header has one, good or not. */
  isShown(cookies: string | undefined): boolean
  /** That of the `Cookie` header, if it is a good one. */
  read(cookies: string | undefined): Promise<Session | undefined>
  csrfOf(session: Session): Promise<string>
  isMeant(session: Session, csrf: string | undefined): Promise<boolean>
  /** Answers the cookie that takes its place. */
  end(session: Session, isSecure: boolean): Promise<string>
}

export interface SessionsParts {
  secrets(): Promise<Signer>
  readonly notes: Notes
  /** Another one when the admin key is: who signed in with the old one has to sign in again. */
  readonly adminMark: string
  readonly now: () => number
}

export const csrfHeader = 'x-csrf-token'
/** With the prefix browsers keep it to this host and to TLS (RFC 6265bis); without TLS they would not take it. */
const names = { secure: '__Host-parley-session', plain: 'parley-session' }
const lifetimeMs = 12 * 3_600_000
/** How long another replica may go on taking a session that was ended here. */
const believedMs = 2_000
const mostBelieved = 1_000
const kind = 'session-ended'
const purpose = { session: 'console-session', csrf: 'console-csrf' }
export const adminSubject = 'admin'

interface Claims {
  readonly id: string
  readonly sub: string
  readonly exp: number
  readonly mark: string
}

export function createSessions({ secrets, notes, adminMark, now }: SessionsParts): Sessions {
  /** Those that were looked up lately, with when. */
  const believed = new Map<string, number>()

  async function isOver(id: string): Promise<boolean> {
    const seen = believed.get(id)
    if (seen !== undefined && seen > now() - believedMs) return false
    if ((await notes.read(kind, id)) !== undefined) return true
    if (believed.size >= mostBelieved) believed.clear()
    believed.set(id, now())
    return false
  }

  async function readToken(token: string): Promise<Session | undefined> {
    const dot = token.indexOf('.')
    const text = token.slice(0, dot)
    if (dot < 1 || !(await (await secrets()).verify(purpose.session, text, token.slice(dot + 1)))) return undefined
    const { id, sub, exp, mark } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims
    if (exp <= now() || (sub === adminSubject && mark !== adminMark) || (await isOver(id))) return undefined
    return { id, subject: sub, expiresAt: exp }
  }

  const csrfOf = async ({ id }: Session): Promise<string> => (await secrets()).sign(purpose.csrf, id)

  return {
    async open(subject, isSecure) {
      const session: Session = { id: newId(), subject, expiresAt: now() + lifetimeMs }
      const claims: Claims = { id: session.id, sub: subject, exp: session.expiresAt, mark: adminMark }
      const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
      const token = `${text}.${await (await secrets()).sign(purpose.session, text)}`
      return { ...session, cookie: cookieOf(token, lifetimeMs, isSecure), csrf: await csrfOf(session) }
    },
    isShown: (cookies) => tokensIn(cookies).length > 0,
    async read(cookies) {
      for (const token of tokensIn(cookies)) {
        const session = await readToken(token)
        if (session !== undefined) return session
      }
      return undefined
    },
    csrfOf,
    isMeant: async ({ id }, csrf) => csrf !== undefined && (await secrets()).verify(purpose.csrf, id, csrf),
    async end({ id, expiresAt }, isSecure) {
      believed.delete(id)
      await notes.write(kind, { key: id, value: true, expiresAt })
      return cookieOf('', 0, isSecure)
    },
  }
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
