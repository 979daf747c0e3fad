/**
 * The state of a turn with the remote agent, stored in checkpoints. A restarted process finds the remote task by it, and
 * the next turn finds the task that asked the question.
 */
import { sessionKeyOf } from '../session-key.ts'
import { stableId } from '../stable-id.ts'
import type { Json, Struct, TaskStatus, Turn } from '@parley/a2a'

export interface RemoteCheckpoint {
  /** Numbers the remote tasks behind one local task: a message that arrives while the first one runs starts a second. */
  readonly round: number
  /** Id of the message that is sent, or about to be sent. */
  readonly messageId: string
  /** The remote task id, once the remote agent has returned it. */
  readonly taskId?: string
  /** The remote agent has confirmed that it received the message. */
  readonly arrived?: true
  /** The local log holds all remote events up to this cursor, and the first `skip` events after it. */
  readonly cursor?: string
  readonly skip?: number
  /** The span of our trace that was sent to the remote agent. */
  readonly span?: { readonly spanId: string; readonly startedAt: number }
  /** Set while the remote task waits for the caller; identifies the question. */
  readonly asked?: RemoteQuestion
}

export interface RemoteQuestion {
  readonly state: TaskStatus['state']
  readonly timestamp?: string
  readonly messageId?: string
}

export function readRemoteCheckpoint(checkpoint: Json | undefined): RemoteCheckpoint | undefined {
  if (typeof checkpoint !== 'object' || checkpoint === null || Array.isArray(checkpoint)) return undefined
  const { round, messageId } = checkpoint as Struct
  // Only this module writes it, unless an agent of another kind had this name before.
  return typeof round === 'number' && typeof messageId === 'string'
    ? (checkpoint as unknown as RemoteCheckpoint)
    : undefined
}

/** The checkpoint at the start of a turn, before anything is sent. */
export function initialCheckpoint(turn: Turn): RemoteCheckpoint {
  const before = readRemoteCheckpoint(turn.lastCheckpoint)
  const messageId = messageIdOf(turn)
  if (before?.asked !== undefined && before.taskId !== undefined) {
    return { round: before.round, messageId, taskId: before.taskId, asked: before.asked }
  }
  return { round: (before?.round ?? 0) + 1, messageId }
}

/** The remote task that a new remote task continues. */
export function previousTaskId(turn: Turn): string | undefined {
  const before = readRemoteCheckpoint(turn.lastCheckpoint)
  return before?.asked === undefined ? before?.taskId : undefined
}

export function remoteQuestionOf({ state, timestamp, message }: TaskStatus): RemoteQuestion {
  return {
    state,
    ...(timestamp !== undefined ? { timestamp } : {}),
    ...(message !== undefined ? { messageId: message.messageId } : {}),
  }
}

/**
 * The same id for every run of the same turn: if the peer deduplicates messages, a repeat is harmless (B-164). The caller's
 * own id is not used, because two callers may choose the same one.
 */
function messageIdOf({ task, message }: Turn): string {
  return stableId(task.id, message.messageId)
}

/** The context id of a conversation with the remote agent, unless that agent chooses one. Two callers never share one. */
export function defaultContextId(turn: Turn, agentName: string): string {
  return stableId(sessionKeyOf(turn, agentName))
}
