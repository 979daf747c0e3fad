/** A way to prove who one is: a function that looks for the proof, and what the card says about it, made in one place. */
import type { Caller } from '../../model/caller.ts'
import type { SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { Credentials } from '../credentials.ts'
import type { Authenticate } from '../options.ts'
import { challenge } from './challenge.ts'

type Found = Caller | undefined | null

export interface SchemeParts {
  /** By which the card names it. */
  readonly name: string
  readonly scheme: SecurityScheme
  /** That every request needs; more may be asked for by a skill. */
  readonly scopes?: readonly string[] | undefined
  readonly challenge: string
  /** Nothing: no such proof was shown. Throws for one that is not good. */
  check(credentials: Credentials): Found | Promise<Found>
}

export function createScheme({ name, scheme, scopes = [], challenge: wanted, check }: SchemeParts): Authenticate {
  const authenticate = async (credentials: Credentials): Promise<Found> => {
    const caller = await check(credentials)
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

/** RFC 6750 §3.1: who is known but lacks a right is told which. */
export function insufficientScope(scopes: readonly string[]): A2AError {
  const scope = scopes.join(' ')
  return new A2AError('PERMISSION_DENIED', 'The token does not permit this', {
    scope,
    challenge: challenge('Bearer', { error: 'insufficient_scope', scope }),
  })
}

/** What stands in the Authorization header behind the name of a scheme, whatever its case (RFC 9110 §11.4). */
export function authorizationOf(credentials: Credentials, scheme: string): string | undefined {
  const header = credentials.header('authorization')
  if (header === undefined || header.slice(0, scheme.length).toLowerCase() !== scheme.toLowerCase()) return undefined
  const rest = header.slice(scheme.length)
  return rest.startsWith(' ') ? rest.trim() : rest === '' ? '' : undefined
}
