/** One authentication scheme: the function that checks credentials and its declaration in the card, created together. */
import type { Caller } from '../../model/caller.ts'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { Authenticate, Call } from '../options.ts'

type AuthenticatedCaller = Caller | undefined | null

export interface SchemeOptions {
  /** The name of the scheme in the card. */
  readonly name: string
  readonly scheme: SecurityScheme
  /** Required for every request; a skill may require more. */
  readonly scopes?: readonly string[] | undefined
  readonly challenge: string
  /** Returns `undefined` if the request has no such credentials. Throws if they are invalid. */
  check(call: Call): AuthenticatedCaller | Promise<AuthenticatedCaller>
}

export function createScheme({ name, scheme, scopes = [], challenge: wanted, check }: SchemeOptions): Authenticate {
  const authenticate = async (call: Call): Promise<AuthenticatedCaller> => {
    const caller = await check(call)
    if (caller === undefined || caller === null) return undefined
    const held = caller.scopes ?? []
    if (!scopes.every((scope) => held.includes(scope))) throw insufficientScope(scopes)
    return { ...caller, schemes: [name] }
  }
  return Object.assign(authenticate, {
    challenge: wanted,
    securitySchemes: { [name]: scheme },
    securityRequirements: [{ schemes: { [name]: { list: scopes } } }],
  })
}

/** RFC 6750 §3.1: the error names the scope that an authenticated caller lacks. */
export function insufficientScope(scopes: readonly string[]): A2AError {
  const scope = scopes.join(' ')
  return new A2AError('PERMISSION_DENIED', 'The token lacks a required scope', {
    scope,
    challenge: challenge('Bearer', { error: 'insufficient_scope', scope }),
  })
}

/** The credentials in the Authorization header after the scheme name, ignoring case (RFC 9110 §11.4). */
export function authorizationOf(call: Call, scheme: string): string | undefined {
  const header = call.header('authorization')
  if (header === undefined || header.slice(0, scheme.length).toLowerCase() !== scheme.toLowerCase()) return undefined
  const rest = header.slice(scheme.length)
  return rest.startsWith(' ') ? rest.trim() : rest === '' ? '' : undefined
}

// Builds the value of a WWW-Authenticate header (RFC 9110 §11.6.1).

/** Omits characters that a quoted string cannot hold, so that no text ends the string early. */
export function quotedString(text: string): string {
  return `"${text.replaceAll(/[^\x20-\x7e]|["\\]/g, '')}"`
}

/** `Bearer realm="parley", error="invalid_token"` */
export function challenge(scheme: string, parameters: { readonly [name: string]: string | undefined } = {}): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quotedString(value)}`],
  )
  return given.length === 0 ? scheme : `${scheme} ${given.join(', ')}`
}
