/**
 * How a task came to be: from the first caller through every agent that handed work on. Each hop makes the next chain of the
 * one before, and only ever makes it narrower: one agent longer, one task poorer, no later in its deadline and no wider in its
 * rights. Pure; the same rules hold within a hub, where a chain is the provenance of a message, and between hubs, where it is
 * what a token says.
 */
import { A2AError } from '@parley/a2a'
import type { Json, Struct, Turn } from '@parley/a2a'
import { isWithin, wordsOf } from './chain-scopes.ts'
import type { ChainScopes } from './chain-scopes.ts'

export interface Chain {
  /** The task that the first caller opened. */
  readonly root: string
  /** Who that was, by a name that tells others nothing. */
  readonly subject: string
  /** The task that handed on; its own id for the first one. */
  readonly parent: string
  /** The agents from the first to the one that handed on, each as `hub#agent`. */
  readonly visited: readonly string[]
  /** How many tasks may still be opened below. */
  readonly tasks: number
  readonly scopes: ChainScopes
  /** Milliseconds since the epoch. */
  readonly deadlineAt?: number
  /** By which it came from another hub. */
  readonly token?: string
}

/** Which agent of which hub. */
export const placeOf = (hub: string, agent: string): string => `${hub}#${agent}`

export interface HopOrder {
  /** Who hands on, and to whom: see `placeOf`. */
  readonly from: string
  readonly to: string
  /** The task that hands on. */
  readonly taskId: string
  readonly deadlineAt?: number | undefined
  readonly maxDepth: number
  readonly now: number
}

/** The chain of a task that nobody handed on. */
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
    scopes: wordsOf(caller.scopes ?? [], about.hub),
    ...(deadlineAt !== undefined ? { deadlineAt } : {}),
  }
}

/** The chain of the task that is about to be opened. Throws what says why it must not be. */
export function nextChain(chain: Chain, order: HopOrder): Chain {
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

/** Whether a task of `to` may be opened under this chain: also asked of those that others made. */
export function checkHop(
  { visited, tasks, deadlineAt = Infinity }: Chain,
  { to, maxDepth, now }: Pick<HopOrder, 'to' | 'maxDepth' | 'now'>,
): void {
  if (visited.includes(to)) {
    const name = to.slice(to.lastIndexOf('#') + 1)
    throw refused(
      'DELEGATION_LOOP',
      `The agent ${name} is already at work on this: agents would call one another in a circle`,
    )
  }
  if (visited.length > maxDepth) {
    throw refused('DELEGATION_DEPTH', `More than ${maxDepth} agents would call one another in a row`)
  }
  if (tasks < 0) throw spent()
  if (deadlineAt <= now) throw refused('DELEGATION_DEADLINE', 'The time for this is over')
}

export function spent(): A2AError {
  return refused('DELEGATION_BUDGET', 'As many tasks as may be have been opened for this request')
}

export type Refusal =
  | 'DELEGATION_LOOP'
  | 'DELEGATION_DEPTH'
  | 'DELEGATION_BUDGET'
  | 'DELEGATION_DEADLINE'
  | 'DELEGATION_TOKEN_SIZE'

function refused(reason: Refusal, message: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', message, { reason })
}

/** Whether the error says that nobody may be asked for this, in whichever way: asking another agent does not help. */
export function isRefusal(reason: unknown): boolean {
  return reason instanceof A2AError && reason.details.reason?.startsWith('DELEGATION_') === true
}

/** What is wrong with `inner` as what somebody made of `outer`, which was given to the agent at `to`; nothing if it is right. */
export function whatIsWider(inner: Chain, outer: Chain, to: string): string | undefined {
  if (inner.root !== outer.root || inner.subject !== outer.subject) return 'it belongs to another request'
  const handedOn = [...outer.visited, to]
  if (handedOn.some((place, index) => inner.visited[index] !== place)) return 'the agents on its way are others'
  if (inner.tasks >= outer.tasks) return 'it may open more tasks'
  if ((inner.deadlineAt ?? Infinity) > (outer.deadlineAt ?? Infinity)) return 'it has more time'
  if (!isWithin(inner.scopes, outer.scopes)) return 'it has wider scopes'
  return undefined
}

/** As a message keeps it. */
export function provenanceOf(chain: Chain): Struct {
  return chain as unknown as Struct
}

/** As a turn shows it. Nobody else writes there. */
export function chainIn(provenance: Json | undefined): Chain | undefined {
  if (typeof provenance !== 'object' || provenance === null || Array.isArray(provenance)) return undefined
  return 'root' in provenance && 'visited' in provenance ? (provenance as unknown as Chain) : undefined
}
