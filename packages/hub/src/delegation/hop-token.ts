/**
 * A chain on its way from one hub to another: a JWT for one message to one agent. It carries the token by which the chain
 * came to whoever signs, so that a receiver who trusts the hubs before can see for itself that nothing was widened.
 */
import { compactVerify, decodeJwt, decodeProtectedHeader, errors, SignJWT } from 'jose'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { A2AError } from '@parley/a2a'
import type { SigningKey } from '@parley/a2a/server'
import { z } from 'zod'
import { whatIsWider } from './chain.ts'
import type { Chain, Refusal } from './chain.ts'

export interface TokenOrder {
  readonly issuer: string
  /** Whom it is for: `hub#agent`. */
  readonly audience: string
  readonly messageId: string
  readonly now: number
}

/** Of the keyring, and what the names of its keys begin with. */
export const hopPurpose = 'hop'
/** No token of another sort passes for one. */
const typ = 'parley-hop+jwt'
/** Long enough for a message to arrive, and to be sent once more. */
const lifetimeMs = 300_000
/** A hub of another version may sign for longer; this bounds how long a leaked token is valid. */
const mostLifetimeSeconds = 600
/** Clocks of hubs differ. */
const toleranceSeconds = 60
/** Eight hubs in a row stay below this. */
const mostCharacters = 32_768

const words = z.array(z.string().max(1_024)).max(1_000)
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
  vis: words,
  bud: z.object({ tasks: z.int().min(0) }),
  scp: z.record(z.string(), words),
  dl: z.number().positive().optional(),
  prv: z.string().max(mostCharacters).optional(),
})

export async function makeToken(chain: Chain, order: TokenOrder, key: SigningKey): Promise<string> {
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
    ...(deadlineAt !== undefined ? { dl: deadlineAt } : {}),
    ...(token !== undefined ? { prv: token } : {}),
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
  // The receiver would refuse it, and the message must not go there without its limits.
  if (made.length > mostCharacters) throw tooLong(made.length)
  return made
}

export interface TokenReading {
  /** The keys of an issuer that is trusted; nothing for a stranger. */
  keysOf(issuer: string): JWTVerifyGetKey | undefined
  /** Who reads it: `hub#agent`. */
  readonly audience: string
  readonly messageId: string
  /** The tasks that the message refers to. */
  readonly referenceTaskIds: readonly string[]
  readonly now: number
}

/**
 * The chain that the token states. Every other token is refused: if it were ignored, its limits (depth, budget, deadline,
 * scopes) would be lost.
 */
export async function readToken(token: string, reading: TokenReading): Promise<Chain> {
  const issuer = issuerOf(token)
  const keys = reading.keysOf(issuer)
  if (keys === undefined) {
    throw invalid('its issuer is not in `delegation.trust` of this hub: add the issuer there, or send no token')
  }
  const said = await verified(token, keys, issuer)
  if (said.exp + toleranceSeconds < reading.now / 1_000) throw invalid('it has expired')
  if (said.iat - toleranceSeconds > reading.now / 1_000) throw invalid('it is from the future')
  if (said.aud !== reading.audience) throw invalid('it is for another agent')
  if (said.jti !== reading.messageId) throw invalid('it is for another message')
  if (!reading.referenceTaskIds.includes(said.par)) throw invalid('it is for the work of another task')
  const chain = chainOf(said, token)
  await checkBefore(said, chain, reading)
  return chain
}

type Claims = z.output<typeof claims>

/** As far as it can be known without believing it. Throws for what is no token. */
function issuerOf(token: string): string {
  if (token.length > mostCharacters) {
    throw invalid(`it has ${token.length} characters, and at most ${mostCharacters} are accepted`)
  }
  const issuer = decoded(token)
  if (typeof issuer !== 'string') throw invalid('it is not well formed')
  return issuer
}

function decoded(token: string): unknown {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}

async function verified(token: string, keys: JWTVerifyGetKey, issuer: string): Promise<Claims> {
  const read = claims.safeParse(await signedContent(token, keys))
  if (!read.success) throw invalid('it lacks what it has to say')
  const { dep, vis, iat, exp } = read.data
  if (exp < iat) throw invalid('it expires before it was issued')
  if (exp - iat > mostLifetimeSeconds) {
    throw invalid(`it is good for ${exp - iat} seconds, and at most ${mostLifetimeSeconds} are accepted`)
  }
  if (dep !== vis.length || new Set(vis).size !== vis.length) throw invalid('the agents on its way do not add up')
  if (vis.at(-1)?.startsWith(`${issuer}#`) !== true) throw invalid('another hub than the last on its way has signed it')
  return read.data
}

/** Whether it has expired is another question: one that a newer token carries may have. */
async function signedContent(token: string, keys: JWTVerifyGetKey): Promise<unknown> {
  try {
    const header = decodeProtectedHeader(token)
    // Other keys of the same hub sign other things.
    if (header.typ !== typ || header.kid?.startsWith(`${hopPurpose}.`) !== true)
      throw invalid('it is a token for something else')
    const { payload } = await compactVerify(token, withinReach(keys), { algorithms: ['ES256'] })
    return JSON.parse(new TextDecoder().decode(payload)) as unknown
  } catch (reason) {
    if (reason instanceof A2AError) throw reason
    const isUnsigned =
      reason instanceof errors.JWKSNoMatchingKey || reason instanceof errors.JWSSignatureVerificationFailed
    throw invalid(isUnsigned ? 'its signature is not good' : 'it is not well formed')
  }
}

/** Keys that cannot be had say nothing about the token. */
function withinReach(keys: JWTVerifyGetKey): JWTVerifyGetKey {
  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (reason) {
      if (reason instanceof errors.JWKSNoMatchingKey || reason instanceof errors.JOSENotSupported) throw reason
      const message = 'The keys of the hub that handed this on cannot be read now'
      throw new A2AError('UNAVAILABLE', message, {}, { cause: reason })
    }
  }
}

/** Whoever signs must have made it of what it was given itself. What strangers gave it is for it to answer for. */
async function checkBefore(said: Claims, chain: Chain, reading: TokenReading): Promise<void> {
  if (said.prv === undefined) return
  const issuer = issuerOf(said.prv)
  const keys = reading.keysOf(issuer)
  if (keys === undefined) return
  const before = await verified(said.prv, keys, issuer)
  if (before.iat - toleranceSeconds > said.iat) throw invalid('it is older than what it was made of')
  if (!before.aud.startsWith(`${said.iss}#`)) throw invalid('what it was made of was given to another hub')
  const outer = chainOf(before, said.prv)
  const wider = whatIsWider(chain, outer, before.aud)
  if (wider !== undefined) throw invalid(`compared with what it was made of, ${wider}`)
  await checkBefore(before, outer, reading)
}

function chainOf({ root, sub, par, vis, bud, scp, dl }: Claims, token: string): Chain {
  return {
    root,
    subject: sub,
    parent: par,
    visited: vis,
    tasks: bud.tasks,
    scopes: scp,
    ...(dl !== undefined ? { deadlineAt: dl } : {}),
    token,
  }
}

function tooLong(characters: number): A2AError {
  const message = `The chain of agents is too long to hand on: its token has ${characters} characters, at most ${mostCharacters} are accepted`
  return new A2AError('UNSUPPORTED_OPERATION', message, { reason: 'DELEGATION_TOKEN_SIZE' satisfies Refusal })
}

function invalid(why: string): A2AError {
  return new A2AError('PERMISSION_DENIED', `The token that came with the message is not valid: ${why}`, {
    reason: 'HOP_TOKEN_INVALID',
  })
}
