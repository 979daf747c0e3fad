/**
 * From what a request shows to who calls (S4-15): a bearer token is tried as a token of an issuer, then as an API key;
 * X-API-Key as a key; the session of the console; a certificate, where the listener asks for them. Who shows nothing is let in where the agent is open.
 * What somebody who is known may do is not decided here (see admit.ts).
 */
import { A2AError, anonymous, type Caller } from '@parley/a2a'
import { mtls, type Authenticate, type Credentials } from '@parley/a2a/server'
import { addressOf } from '../limits/address.ts'
import { type Grant, keyGrantId } from './grant.ts'
import { type CheckToken, invalidToken, looksLikeToken } from './jwt.ts'
import type { KeyRecord } from './key-record.ts'
import type { Passes } from './pass.ts'
import { hashOf } from './key-format.ts'
import { grantsOf } from './scopes.ts'
import { expiryOf } from './session-check.ts'

export interface AuthenticateParts {
  findKey(key: string): Promise<KeyRecord | undefined>
  readonly checkToken: CheckToken | undefined
  /** The same by the current configuration. `undefined` for a token that is no longer valid. */
  recheckToken(token: string, credentials: Credentials): Promise<Caller | undefined>
  /** How long a token is accepted after it expires, because clocks differ. */
  readonly toleranceMs: number
  /** Whether certificates of clients count. */
  readonly mtls: boolean
  /** Whether the agent may be called without credentials. */
  isOpen(agent: string): boolean
  readonly passes: Passes
  readonly trustProxy: boolean
  /** Who signed in at the console, if the request says that the session is meant. Throws UNAUTHENTICATED if it is over. */
  bySession(credentials: Credentials): Promise<KnownCaller | undefined>
}

/** By which cards name them. */
export const schemeNames = { bearer: 'bearer', apiKey: 'apiKey', mtls: 'mtls' } as const

export const challenge = 'Bearer realm="parley", ApiKey in="header", name="X-API-Key"'

/** Certificates have no words of their own: whom the operator's authority vouches for may use every agent. */
const scopesOfCertificates = ['agent:*']

export interface KnownCaller {
  readonly caller: Caller
  readonly key?: KeyRecord
  /** What proved it, if that can end. */
  grant?(): Grant
}

export function createAuthenticate(parts: AuthenticateParts): Authenticate {
  const { findKey, checkToken, isOpen, passes, trustProxy } = parts
  const certificates = parts.mtls ? mtls({ scheme: schemeNames.mtls }) : undefined

  async function byBearer(token: string, credentials: Credentials): Promise<KnownCaller> {
    if (checkToken !== undefined && looksLikeToken(token)) {
      const caller = await checkToken(token, credentials)
      return {
        caller: { ...caller, schemes: [schemeNames.bearer] },
        grant: () => tokenGrant(token, credentials),
      }
    }
    const key = await find(token)
    if (key === undefined) throw invalidToken('The token is not valid')
    return byRecord(key, schemeNames.bearer)
  }

  function tokenGrant(token: string, credentials: Credentials): Grant {
    const expiresAt = expiryOf(token) + parts.toleranceMs
    return {
      id: `token:${hashOf(token)}`,
      expiresAt,
      async recheck() {
        const caller = await parts.recheckToken(token, credentials)
        return caller === undefined ? undefined : { scopes: caller.scopes ?? [], expiresAt }
      },
    }
  }

  async function byKey(text: string): Promise<KnownCaller> {
    const key = await find(text)
    if (key === undefined) throw new A2AError('UNAUTHENTICATED', 'The API key is not valid', { challenge })
    return byRecord(key, schemeNames.apiKey)
  }

  async function find(text: string): Promise<KeyRecord | undefined> {
    try {
      return await findKey(text)
    } catch (cause) {
      throw new A2AError('UNAVAILABLE', 'Keys cannot be looked up now', {}, { cause })
    }
  }

  async function byCertificate(credentials: Credentials): Promise<KnownCaller | undefined> {
    const caller = await certificates?.(credentials)
    return caller === undefined || caller === null ? undefined : { caller: { ...caller, scopes: scopesOfCertificates } }
  }

  /** The first proof that is good decides; if none is, what was wrong with the first. */
  async function identify(credentials: Credentials): Promise<KnownCaller | undefined> {
    const token = bearerOf(credentials)
    const key = credentials.header('x-api-key')
    const ways = [
      ...(token === undefined ? [] : [() => byBearer(token, credentials)]),
      ...(key === undefined ? [] : [() => byKey(key)]),
      () => parts.bySession(credentials),
      () => byCertificate(credentials),
    ]
    let refusal: { readonly reason: unknown } | undefined
    for (const way of ways) {
      try {
        const known = await way()
        if (known !== undefined) return known
      } catch (reason) {
        refusal ??= { reason }
      }
    }
    // Whoever shows something that is not good is not made a guest.
    if (refusal !== undefined) throw refusal.reason
    return undefined
  }

  const authenticate = async (credentials: Credentials): Promise<Caller | undefined> => {
    const { agent } = credentials
    const address = addressOf(credentials, trustProxy)
    const known = await identify(credentials)
    if (known === undefined) return isOpen(agent) ? passes.issue(anonymous, { address }) : undefined
    const { caller, key, grant } = known
    const grants = grantsOf(caller.scopes)
    const skills = grants.mayUse(agent) ? grants.skillsOf(agent) : undefined
    return passes.issue(
      { ...caller, ...(skills !== undefined ? { skills } : {}) },
      { address, ...(key !== undefined ? { key } : {}), ...(grant !== undefined ? { grant } : {}) },
    )
  }
  return Object.assign(authenticate, { challenge })
}

function byRecord(key: KeyRecord, scheme: string): KnownCaller {
  const { id, expiresAt } = key
  return { caller: callerOf(key, scheme), key, grant: () => ({ id: keyGrantId(id), expiresAt }) }
}

function callerOf({ principal, scopes, tenant }: KeyRecord, scheme: string): Caller {
  return { id: principal, scopes, schemes: [scheme], ...(tenant !== undefined ? { tenant } : {}) }
}

function bearerOf({ header }: Credentials): string | undefined {
  const value = header('authorization')
  if (value === undefined || value.slice(0, 6).toLowerCase() !== 'bearer') return undefined
  const rest = value.slice(6)
  return rest === '' ? '' : rest.startsWith(' ') ? rest.trim() : undefined
}
