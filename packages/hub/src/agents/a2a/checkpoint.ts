/**
 * What the hub stores of the remote side. A checkpoint is the position of a turn: a restarted process finds the remote task
 * by it, and the next turn finds the task that asked the question. The id mapping lasts longer than a task.
 */
import {
  cursorExtension,
  type AgentCard,
  type Json,
  type Struct,
  type Task,
  type TaskStatus,
  type Turn,
} from '@parley/a2a'
import { sessionKey, type OpenSpan } from '@parley/a2a/internal'
import type { EventFrame, EventStream } from '@parley/a2a/client'
import type { AgentServices } from '../kind.ts'
import { stableId } from '../derived-ids.ts'

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

/** The task that asked, as far as its checkpoint describes it. */
export function knownQuestion({ taskId: id, asked }: RemoteCheckpoint): Partial<Task> | undefined {
  if (id === undefined) return undefined
  const { state, timestamp, messageId } = asked ?? { state: 'TASK_STATE_INPUT_REQUIRED' }
  const status: TaskStatus = {
    state,
    ...(timestamp !== undefined ? { timestamp } : {}),
    ...(messageId !== undefined ? { message: { messageId, role: 'ROLE_AGENT', parts: [] } } : {}),
  }
  return { id, status }
}

/**
 * The same id for every run of the same turn: if the peer deduplicates messages, a repeat is harmless (B-164). The caller's
 * own id is not used, because two callers may choose the same one.
 */
function messageIdOf({ task, message }: Turn): string {
  return stableId(task.id, message.messageId)
}

/** Whether the peer numbers its events with the cursor extension and can resume after one. */
export function hasCursorExtension({ capabilities }: AgentCard): boolean {
  return capabilities.extensions?.some(({ uri }) => uri === cursorExtension) ?? false
}

/** The checkpoint of a running turn. Its methods reject if our log rejects the checkpoint. */
export interface TurnPosition {
  readonly checkpoint: RemoteCheckpoint
  save(next: RemoteCheckpoint): Promise<void>
  /**
   * An event arrived. The first one queues the checkpoint that must precede its reports; `delivered` is that event if it has none,
   * so that the checkpoint also contains its cursor. Usually there is nothing to await: the log keeps the order, so the checkpoint
   * and the reports that came with it share one commit. If the remote agent chose another context, await the promise: a restarted
   * turn that has arrived does not record the context again.
   */
  recordArrival(
    stream: Pick<EventStream, 'taskId' | 'contextId'>,
    delivered?: Pick<EventFrame, 'id'>,
  ): Promise<void> | undefined
  /**
   * Await it before the last report of the turn: the next message of the conversation needs the mapping. Absent if there is nothing
   * to await: the store writes the mapping no later than the report.
   */
  idsRecorded(): Promise<void> | undefined
  /** The remote agent has the message. Stores its task id and its question, if any. */
  recordArrived(found: Pick<RemoteCheckpoint, 'taskId' | 'asked'>): Promise<void>
  /** The remote task waits for the caller. */
  recordQuestion(status: TaskStatus): Promise<void>
  /** All reports of this frame are in the log. */
  recordDelivered(frame: Pick<EventFrame, 'id'>): void
}

/** After a crash, at most this many events or this much time is read again. */
const maxUnsavedEvents = 64
const maxUnsavedMs = 500

/** Calls `onRemoteTask` when the id of the remote task is stored. */
export function createTurnPosition(
  turn: Turn,
  start: { readonly checkpoint: RemoteCheckpoint; readonly span: OpenSpan },
  idMapping: RemoteIdMapping,
  monotonicNow: () => number,
  onRemoteTask: (taskId: string) => void,
): TurnPosition {
  let { checkpoint } = start
  // The first cursor is stored at once: from then on the log contains the position.
  let savedAt = -Infinity
  let unsaved = 0
  let deliveredAtArrival: Pick<EventFrame, 'id'> | undefined
  let idsRecorded: Promise<void> | undefined
  let hasRecordedIds = false

  return {
    get checkpoint() {
      return checkpoint
    },
    save,
    recordArrival({ taskId, contextId }, delivered) {
      if (hasRecordedIds || taskId === undefined) return undefined
      hasRecordedIds = true
      const recorded = idMapping.record(turn, { taskId, contextId }).catch((cause: unknown) => {
        turn.log.warn('the ids of the remote task could not be stored', { taskId: turn.task.id, cause })
      })
      if (checkpoint.arrived === true) {
        // The process before may have ended between the checkpoint and the mapping.
        if (!idMapping.isOrdered || idMapping.isOtherContext(turn, contextId)) idsRecorded = recorded
        return undefined
      }
      deliveredAtArrival = delivered
      if (idMapping.isOtherContext(turn, contextId))
        return recorded.then(() => recordArrived({ taskId }, delivered?.id))
      if (!idMapping.isOrdered) idsRecorded = recorded
      // If the log rejects it, the engine has stopped the turn, and the reports that follow are rejected as well.
      recordArrived({ taskId }, delivered?.id).catch(() => {})
      return undefined
    },
    idsRecorded: () => idsRecorded,
    recordArrived: (found) => recordArrived(found),
    recordQuestion: (status) => recordArrived({ asked: remoteQuestionOf(status) }),
    recordDelivered(frame) {
      const { id } = frame
      if (id === undefined || frame === deliveredAtArrival) return
      const { skip: _, ...rest } = checkpoint
      checkpoint = { ...rest, cursor: id }
      unsaved += 1
      if (unsaved < maxUnsavedEvents && monotonicNow() - savedAt < maxUnsavedMs) return
      unsaved = 0
      savedAt = monotonicNow()
      // Not awaited: until the write completes the previous checkpoint applies, and the log shows how many events followed
      // it.
      void turn.checkpoint(checkpoint)
    },
  }

  async function save(next: RemoteCheckpoint): Promise<void> {
    checkpoint = next
    await turn.checkpoint(checkpoint)
  }

  async function recordArrived(
    { taskId = checkpoint.taskId, asked }: Pick<RemoteCheckpoint, 'taskId' | 'asked'>,
    cursor?: string,
  ): Promise<void> {
    const { round, messageId, span } = checkpoint
    if (cursor !== undefined) savedAt = monotonicNow()
    if (taskId !== undefined) start.span.set({ childTaskId: taskId })
    await save({
      round,
      messageId,
      ...(span !== undefined ? { span } : {}),
      ...(taskId !== undefined ? { taskId } : {}),
      arrived: true,
      ...(cursor !== undefined ? { cursor } : {}),
      ...(asked !== undefined ? { asked } : {}),
    })
    if (taskId !== undefined) onRemoteTask(taskId)
  }
}

/** Maps local to remote task ids, and keeps the context id that the remote agent chose if it did not accept ours. */
export interface RemoteIdMapping {
  /** Whether a mapping is durable no later than the reports that follow it, so that they need not wait for it. */
  readonly isOrdered: boolean
  /** The remote context id of the conversation that the turn belongs to. */
  remoteContextId(turn: Turn): Promise<string>
  /** Whether the remote agent answered with a context that is not the one the hub proposed. */
  isOtherContext(turn: Turn, contextId: string | undefined): boolean
  /** Records the task and context that the remote agent answered with. */
  record(turn: Turn, remote: { readonly taskId: string; readonly contextId: string | undefined }): Promise<void>
  /** The remote ids of the local tasks that the message references. */
  remoteReferences(turn: Turn): Promise<readonly string[]>
}

/** Longer than users return to a conversation. */
const retentionMs = 90 * 86_400_000

export function createRemoteIdMapping({ name, kv, now }: Pick<AgentServices, 'name' | 'kv' | 'now'>): RemoteIdMapping {
  /** Each is derived by two hashes, and needed three times a turn. */
  const sessions = new WeakMap<Turn, RemoteSession>()
  const sessionOf = (turn: Turn): RemoteSession => {
    const known = sessions.get(turn)
    if (known !== undefined) return known
    const key = sessionKey(turn, name)
    const session = { key, contextId: stableId(key) }
    sessions.set(turn, session)
    return session
  }
  const isOtherContext = (turn: Turn, contextId: string | undefined): contextId is string =>
    contextId !== undefined && contextId !== '' && contextId !== sessionOf(turn).contextId

  return {
    isOrdered: kv.isOrdered === true,
    isOtherContext,
    async remoteContextId(turn) {
      const session = sessionOf(turn)
      const stored = await kv.read('context', session.key)
      return typeof stored?.value === 'string' ? stored.value : session.contextId
    },
    async record(turn, { taskId, contextId }) {
      const expiresAt = now() + retentionMs
      // Not `write`, which reads the version of the entry first.
      await kv.writeAll('task', [{ key: turn.task.id, value: taskId, expiresAt }])
      if (!isOtherContext(turn, contextId)) return
      const { key: session } = sessionOf(turn)
      if (await isClaimedByOther(contextId, session, expiresAt)) return
      await kv.write('context', { key: session, value: contextId, expiresAt })
    },
    async remoteReferences(turn) {
      if (turn.message.referenceTaskIds === undefined) return []
      // Only tasks that the caller may see.
      const tasks = await turn.references()
      const found = await Promise.all(tasks.map(({ id }) => kv.read('task', id)))
      return found.flatMap((stored) => (typeof stored?.value === 'string' ? [stored.value] : []))
    },
  }

  /**
   * True if the context belongs to another conversation. If a remote agent puts two callers into one context, the hub does
   * not use it.
   */
  async function isClaimedByOther(contextId: string, session: string, expiresAt: number): Promise<boolean> {
    const claimed = await kv.write('claim', { key: contextId, value: session, expiresAt }, 0)
    return claimed === undefined && (await kv.read('claim', contextId))?.value !== session
  }
}

interface RemoteSession {
  readonly key: string
  /** The context id of the conversation, unless the remote agent chooses one. Two callers never share one. */
  readonly contextId: string
}
