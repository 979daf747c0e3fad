/**
 * Combines several authentication schemes: any of them, or all together. The card of the whole follows from the cards of the parts:
 * alternatives for `anyOf`, one requirement of several schemes for `allOf`.
 */
import { anonymous, type Caller } from '../../model/caller.ts'
import type { SecurityRequirement, SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { Authenticate, Call } from '../options.ts'

type AuthenticatedCaller = Caller | undefined | null
interface AuthMethod {
  authenticate(call: Call): Promise<AuthenticatedCaller>
  readonly challenge: string | undefined
  readonly requirements: readonly SecurityRequirement[]
}

/**
 * Accepts a caller that any of the schemes recognizes; the first that does decides. The card lists the schemes as
 * alternatives. If a scheme finds invalid credentials, the request does not fall back to `allowAnonymous`.
 *
 * @example
 * ```ts
 * import { serve } from '@parley/a2a/node'
 * import { allowAnonymous, anyOf, bearer } from '@parley/a2a/server'
 *
 * await serve({
 *   agent: ({ caller }) => `Hello, ${caller.id}`,
 *   // Tokens are optional.
 *   authenticate: anyOf(bearer({ issuer: 'https://id.example.com', audience: 'analyst' }), allowAnonymous()),
 * })
 * ```
 */
export function anyOf(...given: readonly Authenticate[]): Authenticate {
  const { ways: methods, securitySchemes } = mergeSchemes(given)
  const authenticate = async (call: Call): Promise<AuthenticatedCaller> => {
    const refusals = new Map<AuthMethod, A2AError>()
    for (const method of methods) {
      try {
        const caller = await method.authenticate(call)
        if (caller !== undefined && caller !== null && !(caller.anonymous === true && refusals.size > 0)) return caller
      } catch (reason) {
        refusals.set(method, refusalOf(reason))
      }
    }
    if (refusals.size === 0) return undefined
    throw mostSpecificRefusal(refusals, methods)
  }
  return Object.assign(authenticate, {
    ...challengeOption(methods.map(({ challenge }) => challenge)),
    securitySchemes,
    securityRequirements: methods.flatMap(({ requirements }) => requirements),
  })
}

/**
 * Accepts a caller that every scheme recognizes. The first scheme provides the caller id; scopes are merged, and a
 * skill must be allowed by all. Credentials for different tenants get 403.
 */
export function allOf(...given: readonly Authenticate[]): Authenticate {
  const { ways: methods, securitySchemes } = mergeSchemes(given)
  const authenticate = async (call: Call): Promise<AuthenticatedCaller> => {
    const callers: Caller[] = []
    for (const method of methods) {
      const caller = await method.authenticate(call)
      if (caller === undefined || caller === null) return undefined
      callers.push(caller)
    }
    return mergeCallers(callers)
  }
  const requirements = methods.reduce<readonly SecurityRequirement[]>(
    (sofar, method) =>
      sofar.flatMap((one) => method.requirements.map((other) => ({ schemes: { ...one.schemes, ...other.schemes } }))),
    [{ schemes: {} }],
  )
  return Object.assign(authenticate, {
    ...challengeOption(methods.map(({ challenge }) => challenge)),
    securitySchemes,
    securityRequirements: requirements,
  })
}

/** Accepts every request as the anonymous caller. As the last scheme of `anyOf` it makes credentials optional. */
export function allowAnonymous(): Authenticate {
  return Object.assign((): Caller => anonymous, { securitySchemes: {}, securityRequirements: [{ schemes: {} }] })
}

function mergeCallers(callers: readonly Caller[]): Caller | undefined {
  const [first] = callers
  if (first === undefined) return undefined
  const tenants = new Set(callers.flatMap(({ tenant }) => tenant ?? []))
  if (tenants.size > 1) throw new A2AError('PERMISSION_DENIED', 'The credentials are for different tenants')
  const [tenant] = tenants
  const all = (field: 'scopes' | 'schemes'): readonly string[] => [
    ...new Set(callers.flatMap((one) => one[field] ?? [])),
  ]
  const skills = callers.flatMap((one) => (one.skills === undefined ? [] : [one.skills]))
  return {
    ...first,
    scopes: all('scopes'),
    schemes: all('schemes'),
    ...(tenant !== undefined ? { tenant } : {}),
    // A skill must be allowed by all of them.
    ...(skills.length > 0 ? { skills: skills.reduce((some, others) => some.filter((id) => others.includes(id))) } : {}),
  }
}

/** Schemes with one name that differ get distinct names: `bearer`, `bearer_2`. */
function mergeSchemes(given: readonly Authenticate[]): {
  readonly ways: readonly AuthMethod[]
  readonly securitySchemes: { readonly [name: string]: SecurityScheme }
} {
  const named = new Map<string, SecurityScheme>()
  const methods = given.map((method): AuthMethod => {
    const names = new Map<string, string>()
    for (const [name, scheme] of Object.entries(method.securitySchemes ?? {})) {
      const free = freeName(name, scheme, named)
      named.set(free, scheme)
      names.set(name, free)
    }
    const rename = (name: string): string => names.get(name) ?? name
    return {
      challenge: method.challenge,
      requirements: (method.securityRequirements ?? []).map(({ schemes }) => ({
        schemes: Object.fromEntries(Object.entries(schemes).map(([name, scopes]) => [rename(name), scopes])),
      })),
      async authenticate(call) {
        const caller = await method(call)
        const shown = caller?.schemes
        return caller === undefined || caller === null || shown === undefined
          ? caller
          : { ...caller, schemes: shown.map(rename) }
      },
    }
  })
  return { ways: methods, securitySchemes: Object.fromEntries(named) }
}

function freeName(name: string, scheme: SecurityScheme, named: ReadonlyMap<string, SecurityScheme>): string {
  const isFree = (one: string): boolean => {
    const taken = named.get(one)
    return taken === undefined || JSON.stringify(taken) === JSON.stringify(scheme)
  }
  if (isFree(name)) return name
  for (let count = 2; ; count++) if (isFree(`${name}_${count}`)) return `${name}_${count}`
}

function refusalOf(reason: unknown): A2AError {
  if (reason instanceof A2AError) return reason
  return new A2AError('UNAUTHENTICATED', 'Authentication is required', {}, { cause: reason })
}

/** PERMISSION_DENIED first, then UNAVAILABLE, then UNAUTHENTICATED. */
function mostSpecificRefusal(refusals: ReadonlyMap<AuthMethod, A2AError>, methods: readonly AuthMethod[]): A2AError {
  const all = [...refusals.values()]
  const known = all.find(({ code }) => code === 'PERMISSION_DENIED')
  const other = known ?? all.find(({ code }) => code !== 'UNAUTHENTICATED')
  if (other !== undefined) return other
  const [first] = all as [A2AError]
  const challenges = methods.map((method) => {
    const own = refusals.get(method)?.details.challenge
    return typeof own === 'string' ? own : method.challenge
  })
  return new A2AError(
    first.code,
    first.message,
    { ...first.details, ...challengeOption(challenges) },
    { cause: first.cause },
  )
}

function challengeOption(challenges: readonly (string | undefined)[]): { readonly challenge?: string } {
  const given = [...new Set(challenges.filter((one) => one !== undefined))]
  return given.length === 0 ? {} : { challenge: given.join(', ') }
}
