/**
 * The rights that go along with handed-on work. Words about agents and their skills mean something in one hub only, so they
 * are kept under its name; those about operations, and scopes of the skills' own, mean the same everywhere. What a hub adds
 * for itself, or leaves out, makes the rights narrower and never wider.
 */
import { covers } from '../auth/scopes.ts'

/** By hub; what holds everywhere stands under no name. A hub that is not there was not asked yet: its own rules hold. */
export type ChainScopes = Readonly<Record<string, readonly string[]>>

const everywhere = ''

/** The words of a caller of this hub. */
export function wordsOf(scopes: readonly string[], hub: string): ChainScopes {
  const { local, operations, others } = sorted(scopes)
  return { [everywhere]: [...operations, ...others], [hub]: local }
}

/** What of a caller's own scopes is left under the chain; nothing at all if there is no operation left that both permit. */
export function narrowed(scopes: readonly string[], chain: ChainScopes, hub: string): readonly string[] | undefined {
  const own = sorted(scopes)
  const given = sorted(chain[everywhere] ?? [])
  const operations = common(own.operations, given.operations, true)
  if (operations === undefined) return undefined
  const local = chain[hub] === undefined ? own.local : (common(own.local, chain[hub], false) ?? [])
  return [...local, ...operations, ...own.others.filter((word) => given.others.includes(word))]
}

/** What the chain says once this caller, who came by it, hands on. */
export function scopesOnward(chain: ChainScopes, scopes: readonly string[], hub: string): ChainScopes {
  const now = wordsOf(scopes, hub)
  const before = sorted(chain[everywhere] ?? [])
  const after = sorted(now[everywhere] ?? [])
  const operations = common(after.operations, before.operations, true) ?? before.operations
  const local = chain[hub] === undefined ? (now[hub] ?? []) : (common(now[hub] ?? [], chain[hub], false) ?? [])
  return {
    ...chain,
    [everywhere]: [...operations, ...after.others.filter((word) => before.others.includes(word))],
    [hub]: local,
  }
}

export function isWithin(inner: ChainScopes, outer: ChainScopes): boolean {
  return Object.entries(outer).every(([hub, words]) => {
    const asked = inner[hub]
    if (asked === undefined) return false
    const [wide, narrow] = [sorted(words), sorted(asked)]
    return (
      covers(wide.local, narrow.local) &&
      covers(wide.operations, narrow.operations) &&
      narrow.others.every((word) => wide.others.includes(word))
    )
  })
}

interface Sorted {
  readonly local: readonly string[]
  readonly operations: readonly string[]
  readonly others: readonly string[]
}

function sorted(words: readonly string[]): Sorted {
  const begins = (word: string, ...sorts: readonly string[]): boolean =>
    sorts.some((sort) => word.startsWith(`${sort}:`))
  return {
    local: words.filter((word) => begins(word, 'agent', 'skill')),
    operations: words.filter((word) => begins(word, 'operation')),
    others: words.filter((word) => !begins(word, 'agent', 'skill', 'operation')),
  }
}

/** What both lists permit. Nothing where that is nothing, though each permits something. */
function common(
  one: readonly string[],
  other: readonly string[],
  noneMeansAll: boolean,
): readonly string[] | undefined {
  if (noneMeansAll && (one.length === 0 || other.length === 0)) return one.length === 0 ? other : one
  const both = new Set([...one.filter((word) => covers(other, [word])), ...other.filter((word) => covers(one, [word]))])
  return both.size === 0 ? undefined : [...both]
}
