/**
 * The chain of a task: from the first caller through every agent that delegated. Each hop derives the next chain and can only
 * narrow it: one agent longer, one task less, no later deadline and no wider permissions. Pure; the same rules apply within a hub,
 * where a chain is the provenance of a message, and between hubs, where a token carries it.
 */
import { A2AError, type Json, type Struct, type Turn } from '@parley/a2a'
import { omitUndefined } from '@parley/a2a/internal'
import { type ChainScopes, chainScopesOf, isWithinScopes } from './chain-scopes.ts'

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
