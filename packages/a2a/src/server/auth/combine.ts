/**
 * Several ways to prove who one is: any of them, or all together. What the card says of the whole follows from what it
 * says of each: alternatives for the one, one requirement of several schemes for the other.
 */
import { anonymous, type Caller } from '../../model/caller.ts'
import type { SecurityRequirement, SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import type { Credentials } from '../credentials.ts'
import type { Authenticate } from '../options.ts'

type Found = Caller | undefined | null
interface Way {
  ask(credentials: Credentials): Promise<Found>
  readonly challenge: string | undefined
  readonly requirements: readonly SecurityRequirement[]
}

/** The first that knows the caller decides. One that was shown a proof which is not good makes nobody a guest. */
export function anyOf(...given: readonly Authenticate[]): Authenticate {
  const { ways, securitySchemes } = settle(given)
  const authenticate = async (credentials: Credentials): Promise<Found> => {
    const refusals = new Map<Way, A2AError>()
    for (const way of ways) {
      try {
        const caller = await way.ask(credentials)
        if (caller !== undefined && caller !== null && !(caller.anonymous === true && refusals.size > 0)) return caller
      } catch (reason) {
        refusals.set(way, refusalOf(reason))
      }
    }
    if (refusals.size === 0) return undefined
    throw gravest(refusals, ways)
  }
  return Object.assign(authenticate, {
    ...told(ways.map(({ challenge }) => challenge)),
    securitySchemes,
    securityRequirements: ways.flatMap(({ requirements }) => requirements),
  })
}

/** Every one has to know the caller. The first says who it is, all say what may be done. */
export function allOf(...given: readonly Authenticate[]): Authenticate {
  const { ways, securitySchemes } = settle(given)
  const authenticate = async (credentials: Credentials): Promise<Found> => {
    const callers: Caller[] = []
    for (const way of ways) {
      const caller = await way.ask(credentials)
      if (caller === undefined || caller === null) return undefined
      callers.push(caller)
    }
    return together(callers)
  }
  const requirements = ways.reduce<readonly SecurityRequirement[]>(
    (sofar, way) =>
      sofar.flatMap((one) => way.requirements.map((other) => ({ schemes: { ...one.schemes, ...other.schemes } }))),
    [{ schemes: {} }],
  )
  return Object.assign(authenticate, {
    ...told(ways.map(({ challenge }) => challenge)),
    securitySchemes,
    securityRequirements: requirements,
  })
}

/** Lets everybody in, without a name: last in an `anyOf`, it makes credentials optional. */
export function guests(): Authenticate {
  return Object.assign((): Caller => anonymous, { securitySchemes: {}, securityRequirements: [{ schemes: {} }] })
}

function together(callers: readonly Caller[]): Caller | undefined {
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
    // What one of them does not allow is not allowed.
    ...(skills.length > 0 ? { skills: skills.reduce((some, others) => some.filter((id) => others.includes(id))) } : {}),
  }
}

/** Two that go by one name and are not the same are told apart: `bearer`, `bearer_2`. */
function settle(given: readonly Authenticate[]): {
  readonly ways: readonly Way[]
  readonly securitySchemes: { readonly [name: string]: SecurityScheme }
} {
  const named = new Map<string, SecurityScheme>()
  const ways = given.map((way): Way => {
    const names = new Map<string, string>()
    for (const [name, scheme] of Object.entries(way.securitySchemes ?? {})) {
      const free = freeName(name, scheme, named)
      named.set(free, scheme)
      names.set(name, free)
    }
    const rename = (name: string): string => names.get(name) ?? name
    return {
      challenge: way.challenge,
      requirements: (way.securityRequirements ?? []).map(({ schemes }) => ({
        schemes: Object.fromEntries(Object.entries(schemes).map(([name, scopes]) => [rename(name), scopes])),
      })),
      async ask(credentials) {
        const caller = await way(credentials)
        const shown = caller?.schemes
        return caller === undefined || caller === null || shown === undefined
          ? caller
          : { ...caller, schemes: shown.map(rename) }
      },
    }
  })
  return { ways, securitySchemes: Object.fromEntries(named) }
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

/** Who is known and may not, rather than what cannot be told now, rather than who is not known. */
function gravest(refusals: ReadonlyMap<Way, A2AError>, ways: readonly Way[]): A2AError {
  const all = [...refusals.values()]
  const known = all.find(({ code }) => code === 'PERMISSION_DENIED')
  const other = known ?? all.find(({ code }) => code !== 'UNAUTHENTICATED')
  if (other !== undefined) return other
  const [first] = all as [A2AError]
  const challenges = ways.map((way) => {
    const own = refusals.get(way)?.details.challenge
    return typeof own === 'string' ? own : way.challenge
  })
  return new A2AError(first.code, first.message, { ...first.details, ...told(challenges) }, { cause: first.cause })
}

function told(challenges: readonly (string | undefined)[]): { readonly challenge?: string } {
  const given = [...new Set(challenges.filter((one) => one !== undefined))]
  return given.length === 0 ? {} : { challenge: given.join(', ') }
}
