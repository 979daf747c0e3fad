/**
 * Where a turn stands with the remote agent: what is kept in checkpoints, so that a process that starts anew finds the
 * work again, and the next turn the task that asked.
 */
import { sessionKeyOf } from '../session-key.ts'
import { stableId } from '../stable-id.ts'
import type { Json, Struct, TaskStatus, Turn } from '@parley/a2a'

export interface Place {
  /** Counts the remote tasks behind one of ours: a message that came while the first was at work begins a second. */
  readonly round: number
  /** Of the message that is sent, or about to be. */
  readonly messageId: string
  /** Theirs, once they have said it. */
  readonly taskId?: string
  /** They have the message for certain. */
  readonly arrived?: true
  /** All their events up to here are in our log, and of those after it the first `skip`. */
  readonly cursor?: string
  readonly skip?: number
  /** Of our trace, which they were told. */
  readonly span?: { readonly spanId: string; readonly startedAt: number }
  /** They wait for the caller: by what to know the question again. */
  readonly asked?: Asked
}

export interface Asked {
  readonly state: TaskStatus['state']
  readonly timestamp?: string
  readonly messageId?: string
}

export function placeIn(checkpoint: Json | undefined): Place | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || Array.isArray(checkpoint)) return undefined
  const { round, messageId } = checkpoint as Struct
  // Written by nobody but us, unless the agent of this name was of another kind before.
  return typeof round === 'number' && typeof messageId === 'string' ? (checkpoint as unknown as Place) : undefined
}

/** Where a turn begins, before anything is sent. */
export function firstPlace(turn: Turn): Place {
  const before = placeIn(turn.remembered)
  const messageId = messageIdOf(turn)
  if (before?.asked !== undefined && before.taskId !== undefined) {
    return { round: before.round, messageId, taskId: before.taskId, asked: before.asked }
  }
  return { round: (before?.round ?? 0) + 1, messageId }
}

/** The remote task that this one goes on from, where it is a new one. */
export function taskBefore(turn: Turn): string | undefined {
  const before = placeIn(turn.remembered)
  return before?.asked === undefined ? before?.taskId : undefined
}

export function askedIn({ state, timestamp, message }: TaskStatus): Asked {
  return {
    state,
    ...(timestamp !== undefined ? { timestamp } : {}),
    ...(message !== undefined ? { messageId: message.messageId } : {}),
  }
}

/**
 * The same for the same turn, however often it is run: where a peer takes a message once, a repeat is harmless (B-164).
 * Not the caller's own: two callers may have chosen the same.
 */
function messageIdOf({ task, message }: Turn): string {
  return stableId(task.id, message.messageId)
}

/** The context that a conversation has with the remote agent unless it chooses one: no two callers ever share one. */
export function contextIdOf(turn: Turn, agentName: string): string {
  return stableId(sessionKeyOf(turn, agentName))
}
