/**
 * The permissions that are passed on with delegated work, by hub. Scopes of agents and their skills are valid in one hub
 * only, so they are stored under its name; scopes of operations and of the skills themselves are valid everywhere and
 * have an empty name. For a hub that is not listed yet, its own rules apply. Whatever a hub adds or leaves out, the
 * permissions become narrower and never wider.
 */
import { A2AError } from '@parley/a2a'
import { coversScopes } from '../auth/scopes.ts'

export type ChainScopes = Readonly<Record<string, readonly string[]>>

const anyHub = ''

/** The scopes of a caller of this hub. */
export function chainScopesOf(scopes: readonly string[], hub: string): ChainScopes {
  const { local, operations, others } = groupScopes(scopes)
  return { [anyHub]: [...operations, ...others], [hub]: local }
}

/** The caller's own scopes within the chain; `undefined` if no operation is left that both permit. */
export function narrowScopes(
  scopes: readonly string[],
  chain: ChainScopes,
  hub: string,
): readonly string[] | undefined {
  const own = groupScopes(scopes)
  const given = groupScopes(chain[anyHub] ?? [])
  const operations = intersectScopes(own.operations, given.operations, true)
  if (operations === undefined) return undefined
  const local = chain[hub] === undefined ? own.local : (intersectScopes(own.local, chain[hub], false) ?? [])
  return [...local, ...operations, ...own.others.filter((word) => given.others.includes(word))]
}

/** The scopes of a caller of this hub within a limit. Throws PERMISSION_DENIED if no operation is left that both permit. */
export function intersectCallerScopes(scopes: readonly string[], limit: readonly string[]): readonly string[] {
  const hub = 'this hub'
  const both = narrowScopes(scopes, chainScopesOf(limit, hub), hub)
  if (both === undefined) throw new A2AError('PERMISSION_DENIED', 'The caller may perform no operation in this call')
  return both
}

/** The scopes of the chain after this caller, who came by it, delegates. */
export function onwardScopes(chain: ChainScopes, scopes: readonly string[], hub: string): ChainScopes {
  const now = chainScopesOf(scopes, hub)
  const before = groupScopes(chain[anyHub] ?? [])
  const after = groupScopes(now[anyHub] ?? [])
  const operations = intersectScopes(after.operations, before.operations, true) ?? before.operations
  const local = chain[hub] === undefined ? (now[hub] ?? []) : (intersectScopes(now[hub] ?? [], chain[hub], false) ?? [])
  return {
    ...chain,
    [anyHub]: [...operations, ...after.others.filter((word) => before.others.includes(word))],
    [hub]: local,
  }
}

export function isWithinScopes(inner: ChainScopes, outer: ChainScopes): boolean {
  return Object.entries(outer).every(([hub, words]) => {
    const asked = inner[hub]
    if (asked === undefined) return false
    const [wide, narrow] = [groupScopes(words), groupScopes(asked)]
    return (
      coversScopes(wide.local, narrow.local) &&
      coversScopes(wide.operations, narrow.operations) &&
      narrow.others.every((word) => wide.others.includes(word))
    )
  })
}

interface ScopesByKind {
  readonly local: readonly string[]
  readonly operations: readonly string[]
  readonly others: readonly string[]
}

function groupScopes(words: readonly string[]): ScopesByKind {
  const begins = (word: string, ...sorts: readonly string[]): boolean =>
    sorts.some((sort) => word.startsWith(`${sort}:`))
  return {
    local: words.filter((word) => begins(word, 'agent', 'skill')),
    operations: words.filter((word) => begins(word, 'operation')),
    others: words.filter((word) => !begins(word, 'agent', 'skill', 'operation')),
  }
}

/** What both lists permit. `undefined` if that is nothing, though each permits something. */
function intersectScopes(
  one: readonly string[],
  other: readonly string[],
  isEmptyUnrestricted: boolean,
): readonly string[] | undefined {
  if (isEmptyUnrestricted && (one.length === 0 || other.length === 0)) return one.length === 0 ? other : one
  const both = new Set([
    ...one.filter((word) => coversScopes(other, [word])),
    ...other.filter((word) => coversScopes(one, [word])),
  ])
  return both.size === 0 ? undefined : [...both]
}
