/**
 * A chain on its way from one hub to another: a JWT for one message to one agent. It contains the token by which the chain came to
 * the signer, so that a receiver that trusts the earlier hubs can verify that nothing was widened.
 */
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, SignJWT } from 'jose'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { A2AError } from '@parley/a2a'
import { omitUndefined, type SigningKey } from '@parley/a2a/internal'
import type { CallConstraints } from '@parley/a2a/server'
import { z } from 'zod'
import { findWidening, type Chain, type DelegationRefusal } from './chain.ts'
import { attempt } from '../json/attempt.ts'

export interface HopTokenOptions {
  readonly issuer: string
  /** The recipient: `hub#agent`. */
  readonly audience: string
  readonly messageId: string
  readonly now: number
}

/** The signing purpose in the keyring, and the prefix of its key ids. */
export const hopPurpose = 'hop'
/** No token of another type is accepted as one. */
const typ = 'parley-hop+jwt'
/** Long enough for a message to arrive, and to be retried once. */
const lifetimeMs = 300_000
/** A hub of another version may sign for longer; this bounds how long a leaked token is valid. */
const maxLifetimeSeconds = 600
/** Clocks of hubs differ. */
const toleranceSeconds = 60
/** Eight hubs in a row stay below this. */
const maxTokenLength = 32_768

const scopeList = z.array(z.string().max(1_024)).max(1_000)
const claims = z.object({
  iss: z.string(),
  sub: z.string().max(1_024),
  aud: z.string(),
  jti: z.string(),
  iat: z.number(),
  exp: z.number(),
  root: z.string().max(1_024),
  par: z.string().max(1_024),
  dep: z.int().min(1),
  vis: scopeList,
  bud: z.object({ tasks: z.int().min(0) }),
  scp: z.record(z.string(), scopeList),
  dl: z.number().positive().optional(),
  prv: z.string().max(maxTokenLength).optional(),
})

export async function signHopToken(chain: Chain, order: HopTokenOptions, key: SigningKey): Promise<string> {
  const { root, subject, parent, visited, tasks, scopes, deadlineAt, token } = chain
  const iat = Math.floor(order.now / 1_000)
  const exp = Math.ceil(Math.min(order.now + lifetimeMs, deadlineAt ?? Infinity) / 1_000)
  const payload: JWTPayload = {
    root,
    par: parent,
    dep: visited.length,
    vis: visited,
    bud: { tasks },
    scp: scopes,
    ...omitUndefined({ dl: deadlineAt, prv: token }),
  }
  const made = await new SignJWT(payload)
    .setProtectedHeader({ alg: 'ES256', typ, kid: key.kid })
    .setIssuer(order.issuer)
    .setSubject(subject)
    .setAudience(order.audience)
    .setJti(order.messageId)
    .setIssuedAt(iat)
    .setExpirationTime(exp)
    .sign(key.privateKey)
  // The receiver would refuse it, and the message must not be sent without its limits.
  if (made.length > maxTokenLength) throw tokenTooLongError(made.length)
  return made
}

export interface HopTokenContext {
  /** The keys of a trusted issuer; `undefined` for any other. */
  keysOf(issuer: string): JWTVerifyGetKey | undefined
  /** The recipient: `hub#agent`. */
  readonly audience: string
  readonly messageId: string
  /** The tasks that the message refers to. */
  readonly referenceTaskIds: readonly string[]
  readonly now: number
}

export interface VerifiedHop {
  readonly chain: Chain
  /** The token is for one message: by its id, because a message that is sent again has a new token. */
  readonly singleUse: NonNullable<CallConstraints['singleUse']>
}

/**
 * The chain of the token. Every invalid token is refused: if it were ignored, its limits (depth, budget, deadline, scopes) would be
 * lost.
 */
export async function verifyHopToken(token: string, reading: HopTokenContext): Promise<VerifiedHop> {
  const issuer = issuerOf(token)
  const keys = reading.keysOf(issuer)
  if (keys === undefined) {
    throw invalidHopTokenError(
      'its issuer is not in `delegation.trust` of this hub: add the issuer there, or send no token',
    )
  }
  const tokenClaims = await verifiedClaims(token, keys, issuer)
  if (tokenClaims.exp + toleranceSeconds < reading.now / 1_000) throw invalidHopTokenError('it has expired')
  if (tokenClaims.iat - toleranceSeconds > reading.now / 1_000)
    throw invalidHopTokenError('its issue time is in the future')
  if (tokenClaims.aud !== reading.audience) throw invalidHopTokenError('it is for another agent')
  if (tokenClaims.jti !== reading.messageId) throw invalidHopTokenError('it is for another message')
  if (!reading.referenceTaskIds.includes(tokenClaims.par))
    throw invalidHopTokenError('it is for the work of another task')
  const chain = chainOf(tokenClaims, token)
  await checkPreviousToken(tokenClaims, chain, reading)
  const { aud, jti, exp } = tokenClaims
  const ttlMs = (exp + toleranceSeconds) * 1_000 - reading.now
  return { chain, singleUse: { id: JSON.stringify([issuer, aud, jti]), ttlMs } }
}

type Claims = z.output<typeof claims>

/** Read without verification. Throws if the text is not a token. */
function issuerOf(token: string): string {
  if (token.length > maxTokenLength) {
    throw invalidHopTokenError(`it has ${token.length} characters; at most ${maxTokenLength} are accepted`)
  }
  const issuer = attempt((): unknown => decodeJwt(token).iss)
  if (typeof issuer !== 'string') throw invalidHopTokenError('it is not well formed')
  return issuer
}

async function verifiedClaims(token: string, keys: JWTVerifyGetKey, issuer: string): Promise<Claims> {
  const read = claims.safeParse(await signedContent(token, keys))
  if (!read.success) throw invalidHopTokenError('it lacks required claims')
  const { dep, vis, iat, exp } = read.data
  if (exp < iat) throw invalidHopTokenError('it expires before it was issued')
  if (exp - iat > maxLifetimeSeconds) {
    throw invalidHopTokenError(`it is valid for ${exp - iat} seconds; at most ${maxLifetimeSeconds} are accepted`)
  }
  if (dep !== vis.length || new Set(vis).size !== vis.length)
    throw invalidHopTokenError('its chain of agents is inconsistent')
  if (vis.at(-1)?.startsWith(`${issuer}#`) !== true)
    throw invalidHopTokenError('it was not signed by the last hub of its chain')
  return read.data
}

/** Does not check the expiry: a token inside a newer one may have expired. */
async function signedContent(token: string, keys: JWTVerifyGetKey): Promise<unknown> {
  try {
    const header = decodeProtectedHeader(token)
    // Other keys of the same hub sign other things.
    if (header.typ !== typ || header.kid?.startsWith(`${hopPurpose}.`) !== true)
      throw invalidHopTokenError('it is a token for something else')
    const { payload } = await compactVerify(token, wrapKeyErrors(keys), { algorithms: ['ES256'] })
    return JSON.parse(new TextDecoder().decode(payload)) as unknown
  } catch (reason) {
    if (reason instanceof A2AError) throw reason
    const isUnsigned =
      reason instanceof errors.JWKSNoMatchingKey || reason instanceof errors.JWSSignatureVerificationFailed
    throw invalidHopTokenError(isUnsigned ? 'its signature is invalid' : 'it is not well formed')
  }
}

/** A failure to fetch the keys says nothing about the token. */
function wrapKeyErrors(keys: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (reason) {
      if (reason instanceof errors.JWKSNoMatchingKey || reason instanceof errors.JOSENotSupported) throw reason
      const message = 'The keys of the delegating hub cannot be read now'
      throw new A2AError('UNAVAILABLE', message, {}, { cause: reason })
    }
  }
}

/**
 * The signer must have derived the chain from the token it received. A token of an untrusted hub is the signer's responsibility.
 */
async function checkPreviousToken(tokenClaims: Claims, chain: Chain, reading: HopTokenContext): Promise<void> {
  if (tokenClaims.prv === undefined) return
  const issuer = issuerOf(tokenClaims.prv)
  const keys = reading.keysOf(issuer)
  if (keys === undefined) return
  const previous = await verifiedClaims(tokenClaims.prv, keys, issuer)
  if (previous.iat - toleranceSeconds > tokenClaims.iat) throw invalidHopTokenError('it is older than its parent token')
  if (!previous.aud.startsWith(`${tokenClaims.iss}#`))
    throw invalidHopTokenError('its parent token was issued to another hub')
  const outer = chainOf(previous, tokenClaims.prv)
  const wider = findWidening(chain, outer, previous.aud)
  if (wider !== undefined) throw invalidHopTokenError(`compared with its parent token, ${wider}`)
  await checkPreviousToken(previous, outer, reading)
}

function chainOf({ root, sub, par, vis, bud, scp, dl }: Claims, token: string): Chain {
  return {
    root,
    subject: sub,
    parent: par,
    visited: vis,
    tasks: bud.tasks,
    scopes: scp,
    ...omitUndefined({ deadlineAt: dl }),
    token,
  }
}

function tokenTooLongError(characters: number): A2AError {
  const message = `The chain of agents is too long: its token has ${characters} characters, at most ${maxTokenLength} are accepted`
  return new A2AError('UNSUPPORTED_OPERATION', message, { reason: 'DELEGATION_TOKEN_SIZE' satisfies DelegationRefusal })
}

function invalidHopTokenError(why: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `The delegation token of the message is not valid: ${why}`, {
    reason: 'HOP_TOKEN_INVALID',
  })
}
