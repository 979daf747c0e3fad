/**
 * Determines the caller from the credentials of a request (S4-15): a bearer token is tried as a token of an issuer, then as an API
 * key; X-API-Key as a key; the session of the console; a client certificate, where the listener requests one. A request without
 * credentials is accepted where the agent allows anonymous access. What the caller may do is decided in admit-request.ts.
 */
import { A2AError, anonymous, type Caller } from '@parley/a2a'
import { mtls, type Authenticate, type Call } from '@parley/a2a/server'
import type { QuotaCharge } from '../limits/task-quota.ts'
import { type Grant, keyGrantId } from './grant-streams.ts'
import { type CheckToken, invalidTokenError, looksLikeJwt, tokenExpiry } from './token-check.ts'
import { creatorOf, type KeyRecord, sha256Hex } from './key-format.ts'
import { permissionsOf } from './scopes.ts'

export interface AuthenticatorDeps {
  findKey(key: string): Promise<KeyRecord | undefined>
  /** The record, if it is valid and was read a moment ago. */
  findCachedKey(key: string): KeyRecord | undefined
  readonly checkToken: CheckToken | undefined
  /** Checks a token again with the current configuration. `undefined` for a token that is no longer valid. */
  recheckToken(token: string, call: Call): Promise<Caller | undefined>
  /** How long a token is accepted after it expires, because clocks differ. */
  readonly toleranceMs: number
  /** Whether client certificates are accepted. */
  readonly mtls: boolean
  /** Whether the agent may be called without credentials. */
  isAnonymousAllowed(agent: string): boolean
  /** The user of the console session, if the request selects the session. Throws UNAUTHENTICATED if it has ended. */
  bySession(call: Call): Promise<IdentifiedCaller | undefined>
  /** Whether the request selects the session. */
  hasSession(call: Call): boolean
}

/** The names of the schemes on cards. */
export const schemeNames = { bearer: 'bearer', apiKey: 'apiKey', mtls: 'mtls' } as const

export const challenge = 'Bearer realm="parley", ApiKey in="header", name="X-API-Key"'

/** Certificates carry no scopes: a subject that the operator's authority certifies may use every agent. */
const certificateScopes = ['agent:*']

export interface IdentifiedCaller {
  readonly caller: Caller
  readonly key?: KeyRecord
  /** The grant behind the identity, if it can end. */
  grant?(): Grant
}

export function createAuthenticator(parts: AuthenticatorDeps): Authenticate {
  const { findKey, checkToken, isAnonymousAllowed } = parts
  const certificates = parts.mtls ? mtls({ scheme: schemeNames.mtls }) : undefined

  async function byBearer(token: string, call: Call): Promise<IdentifiedCaller> {
    if (checkToken !== undefined && looksLikeJwt(token)) {
      const caller = await checkToken(token, call)
      return {
        caller: { ...caller, schemes: [schemeNames.bearer] },
        grant: () => tokenGrant(token, call),
      }
    }
    const key = await find(token)
    if (key === undefined) throw invalidTokenError('The token is not valid')
    return identifiedByKey(key, schemeNames.bearer)
  }

  function tokenGrant(token: string, call: Call): Grant {
    const expiresAt = tokenExpiry(token) + parts.toleranceMs
    return {
      id: `token:${sha256Hex(token)}`,
      expiresAt,
      async recheck() {
        const caller = await parts.recheckToken(token, call)
        return caller === undefined ? undefined : { scopes: caller.scopes ?? [], expiresAt }
      },
    }
  }

  async function byKey(text: string): Promise<IdentifiedCaller> {
    const key = await find(text)
    if (key === undefined) throw new A2AError('UNAUTHENTICATED', 'The API key is not valid', { challenge })
    return identifiedByKey(key, schemeNames.apiKey)
  }

  async function find(text: string): Promise<KeyRecord | undefined> {
    try {
      return await findKey(text)
    } catch (cause) {
      throw new A2AError('UNAVAILABLE', 'API keys cannot be checked now', {}, { cause })
    }
  }

  async function byCertificate(call: Call): Promise<IdentifiedCaller | undefined> {
    const caller = await certificates?.(call)
    return caller === undefined || caller === null ? undefined : { caller: { ...caller, scopes: certificateScopes } }
  }

  /**
   * The first valid credential decides; if none is valid, the error of the first is thrown. A promise only if there is something to
   * read or to verify: a request without credentials, or with a key that was just used, is identified at once.
   */
  function identify(call: Call): IdentifiedCaller | undefined | Promise<IdentifiedCaller | undefined> {
    const token = bearerOf(call)
    const key = call.header('x-api-key')
    if (token === undefined && key === undefined) {
      const hasOthers = certificates !== undefined || parts.hasSession(call)
      return hasOthers ? tryAll(call, token, key) : undefined
    }
    const isToken = token !== undefined && checkToken !== undefined && looksLikeJwt(token)
    const record = isToken ? undefined : parts.findCachedKey(token ?? key ?? '')
    if (record === undefined) return tryAll(call, token, key)
    return identifiedByKey(record, token === undefined ? schemeNames.apiKey : schemeNames.bearer)
  }

  async function tryAll(
    call: Call,
    token: string | undefined,
    key: string | undefined,
  ): Promise<IdentifiedCaller | undefined> {
    const methods = [
      ...(token === undefined ? [] : [() => byBearer(token, call)]),
      ...(key === undefined ? [] : [() => byKey(key)]),
      () => parts.bySession(call),
      () => byCertificate(call),
    ]
    let refusal: { readonly reason: unknown } | undefined
    for (const way of methods) {
      try {
        const identified = await way()
        if (identified !== undefined) return identified
      } catch (reason) {
        refusal ??= { reason }
      }
    }
    // Invalid credentials do not fall back to anonymous access.
    if (refusal !== undefined) throw refusal.reason
    return undefined
  }

  const authenticate = (call: Call): Caller | undefined | Promise<Caller | undefined> => {
    const identified = identify(call)
    if (!(identified instanceof Promise)) return keepIdentity(identified, call)
    return identified.then((known) => keepIdentity(known, call))
  }

  function keepIdentity(identified: IdentifiedCaller | undefined, call: Call): Caller | undefined {
    const { agent } = call
    if (identified === undefined) {
      if (!isAnonymousAllowed(agent)) return undefined
      call.data = {}
      return anonymous
    }
    const { caller, key, grant } = identified
    call.data = { ...(key !== undefined ? { key } : {}), ...(grant !== undefined ? { grant } : {}) }
    const grants = permissionsOf(caller.scopes)
    const skills = grants.canUse(agent) ? grants.skillsOf(agent) : undefined
    return skills === undefined ? caller : { ...caller, skills }
  }
  return Object.assign(authenticate, { challenge })
}

function identifiedByKey(key: KeyRecord, scheme: string): IdentifiedCaller {
  const { id, expiresAt } = key
  return { caller: callerOfKey(key, scheme), key, grant: () => ({ id: keyGrantId(id), expiresAt }) }
}

function callerOfKey(key: KeyRecord, scheme: string): Caller {
  const { principal, scopes, tenant } = key
  const creator = creatorOf(key)
  return {
    id: principal,
    // A caller with twenty keys must not hold twenty times as much.
    ...(creator !== undefined && creator !== principal ? { limitedAs: creator } : {}),
    scopes,
    schemes: [scheme],
    ...(tenant !== undefined ? { tenant } : {}),
  }
}

function bearerOf({ header }: Call): string | undefined {
  const value = header('authorization')
  if (value === undefined || value.slice(0, 6).toLowerCase() !== 'bearer') return undefined
  const rest = value.slice(6)
  return rest === '' ? '' : rest.startsWith(' ') ? rest.trim() : undefined
}

/**
 * Identity of a call beyond the SDK's caller: its key and its grant. Kept in the data of the call and not in the caller, so that no
 * agent and no log sees it.
 */
export interface RequestIdentity {
  /** `undefined` for tokens, certificates and anonymous callers. */
  readonly key?: KeyRecord
  /** The grant of the call, if it can end. Created on demand: most requests never need it. */
  grant?(): Grant
  /** The quota charge of this call, and its time. */
  quotaCharge?: QuotaCharge & { readonly at: number }
}

/** `undefined` for a call that this hub has not authenticated. */
export function identityOf({ data }: Pick<Call, 'data'>): RequestIdentity | undefined {
  return data as RequestIdentity | undefined
}
