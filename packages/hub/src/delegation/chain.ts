/**
 * The chain of a task: from the first caller through every agent that delegated. Each hop derives the next chain and can only
 * narrow it: one agent longer, one task less, no later deadline and no wider permissions. Pure; the same rules apply within a hub,
 * where a chain is the provenance of a message, and between hubs, where a token carries it.
 */
import { A2AError, omitUndefined, type Json, type Struct, type Turn } from '@parley/a2a'
import { coversScopes } from '../auth/scopes.ts'

export interface Chain {
  /** The task that the first caller opened. */
  readonly root: string
  /** A pseudonym of the first caller. */
  readonly subject: string
  /** The task that delegated; its own id for the first one. */
  readonly parent: string
  /** The agents from the first to the one that delegated, each as `hub#agent`. */
  readonly visited: readonly string[]
  /** How many tasks may still be opened below. */
  readonly tasks: number
  readonly scopes: ChainScopes
  /** Milliseconds since the epoch. */
  readonly deadlineAt?: number
  /** The token by which it came from another hub. */
  readonly token?: string
}

/** Identifies an agent of a hub. */
export const chainAgentId = (hub: string, agent: string): string => `${hub}#${agent}`

export interface HopRequest {
  /** The delegating agent and its target: see `chainAgentId`. */
  readonly from: string
  readonly to: string
  /** The task that delegates. */
  readonly taskId: string
  readonly deadlineAt?: number | undefined
  readonly maxDepth: number
  readonly now: number
}

/** The chain of a task that was not delegated. */
export function firstChain(
  { task, caller }: Pick<Turn, 'task' | 'caller'>,
  about: { readonly subject: string; readonly hub: string; readonly tasks: number },
): Chain {
  const { id, deadlineAt } = task
  return {
    root: id,
    subject: about.subject,
    parent: id,
    visited: [],
    tasks: about.tasks,
    scopes: chainScopesOf(caller.scopes ?? [], about.hub),
    ...omitUndefined({ deadlineAt }),
  }
}

/** The chain of the task that is about to be opened. Throws with the reason if it is not permitted. */
export function nextChain(chain: Chain, order: HopRequest): Chain {
  const visited = [...chain.visited, order.from]
  const deadlineAt = Math.min(chain.deadlineAt ?? Infinity, order.deadlineAt ?? Infinity)
  const next: Chain = {
    ...chain,
    parent: order.taskId,
    visited,
    tasks: chain.tasks - 1,
    ...(deadlineAt < Infinity ? { deadlineAt } : {}),
  }
  checkHop(next, order)
  return next
}

/** Whether a task of `to` may be opened under this chain; also applied to chains of other hubs. */
export function checkHop(
  { visited, tasks, deadlineAt = Infinity }: Chain,
  { to, maxDepth, now }: Pick<HopRequest, 'to' | 'maxDepth' | 'now'>,
): void {
  if (visited.includes(to)) {
    const name = to.slice(to.lastIndexOf('#') + 1)
    throw delegationError(
      'DELEGATION_LOOP',
      `The agent ${name} is already part of this chain: refusing a circular call`,
    )
  }
  if (visited.length > maxDepth) {
    throw delegationError('DELEGATION_DEPTH', `The chain of agents would exceed ${maxDepth} hops (maxDepth)`)
  }
  if (tasks < 0) throw budgetExceededError()
  if (deadlineAt <= now) throw delegationError('DELEGATION_DEADLINE', 'The deadline of the request has passed')
}

export function budgetExceededError(): A2AError {
  return delegationError('DELEGATION_BUDGET', 'The maximum number of delegated tasks for this request is reached')
}

export type DelegationRefusal =
  | 'DELEGATION_LOOP'
  | 'DELEGATION_DEPTH'
  | 'DELEGATION_BUDGET'
  | 'DELEGATION_DEADLINE'
  | 'DELEGATION_TOKEN_SIZE'

function delegationError(reason: DelegationRefusal, message: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', message, { reason })
}

/** Whether the error forbids the delegation itself, so that trying another agent does not help. */
export function isDelegationRefusal(reason: unknown): boolean {
  return reason instanceof A2AError && reason.details.reason?.startsWith('DELEGATION_') === true
}

/** What makes `inner` wider than `outer`, the chain that was given to the agent at `to`; `undefined` if nothing does. */
export function findWidening(inner: Chain, outer: Chain, to: string): string | undefined {
  if (inner.root !== outer.root || inner.subject !== outer.subject) return 'it belongs to another request'
  const handedOn = [...outer.visited, to]
  if (handedOn.some((place, index) => inner.visited[index] !== place)) return 'its chain of agents differs'
  if (inner.tasks >= outer.tasks) return 'it allows more tasks'
  if ((inner.deadlineAt ?? Infinity) > (outer.deadlineAt ?? Infinity)) return 'it has a later deadline'
  if (!isWithinScopes(inner.scopes, outer.scopes)) return 'it has wider scopes'
  return undefined
}

/** The chain as stored with a message. */
export function provenanceOf(chain: Chain): Struct {
  return chain as unknown as Struct
}

/** The chain of a turn. Only the hub writes provenance. */
export function chainFromProvenance(provenance: Json | undefined): Chain | undefined {
  if (typeof provenance !== 'object' || provenance === null || Array.isArray(provenance)) return undefined
  return 'root' in provenance && 'visited' in provenance ? (provenance as unknown as Chain) : undefined
}

/**
 * The permissions that are passed on with delegated work, by hub. Scopes of agents and their skills are valid in one hub only, so
 * they are stored under its name; scopes of operations and of the skills themselves are valid everywhere and have an empty name.
 * For a hub that is not listed yet, its own rules apply. Whatever a hub adds or leaves out, the permissions become narrower and
 * never wider.
 */
type ChainScopes = Readonly<Record<string, readonly string[]>>

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
