/**
 * The state of one turn with the remote agent: which stream to read next, what to store, and what a failure means.
 * `runRemoteTurn` reads the streams.
 */
import { A2AError, isInterrupted, isRedacted } from '@parley/a2a'
import type { OpenSpan, Report, StateReport, Task, TaskStatus, Turn } from '@parley/a2a'
import type { EventStream, RemoteAgent, EventFrame } from '@parley/a2a/client'
import type { InProcessClient } from '../kind.ts'
import type { RemoteIdMapping } from './id-mapping.ts'
import type { A2AEntry } from './entry.ts'
import { remoteFailure, deliveryUnknown, secretLost } from './remote-failure.ts'
import type { PushReceiver } from './push-receiver.ts'
import { callOptions, createOutgoingMessage } from './outgoing-message.ts'
import { delay } from './delay.ts'
import type { RemoteCheckpoint } from './checkpoint.ts'
import { remoteQuestionOf, previousTaskId } from './checkpoint.ts'
import type { TurnCancellation } from './cancellation.ts'
import type { EventTranslator } from './event-translator.ts'
import type { Upstream } from './upstream.ts'
import { hasCursorExtension, mayHaveArrived, reconcileSend } from './reconcile-send.ts'

export interface RemoteTurnDeps {
  readonly entry: A2AEntry
  readonly upstream: Upstream
  readonly pushReceiver: PushReceiver
  readonly idMapping: RemoteIdMapping
  readonly inProcessClient: Pick<InProcessClient, 'hopTokenFor'>
  readonly now: () => number
  readonly monotonicNow: () => number
}

export interface RemoteTurnStart {
  readonly remote: RemoteAgent
  readonly checkpoint: RemoteCheckpoint
  readonly span: OpenSpan
  readonly isResumed: boolean
}

export interface RemoteTurn {
  /** The remote task id, once it is known. */
  readonly taskId: string | undefined
  /** Opens the next stream to read. */
  openStream(signal: AbortSignal): Promise<EventStream>
  /** Called when an event arrives. Resolves when the checkpoint that must precede its reports is stored. */
  recordArrival(stream: EventStream): Promise<void>
  /** Whether the log already holds the event that was just translated. */
  isAlreadyLogged(): boolean
  /** The remote task waits for the caller; stores its question. */
  recordQuestion(status: TaskStatus): Promise<void>
  /** All reports of this frame are in the log. */
  recordDelivered(frame: EventFrame): void
  /** The stream ended before the task did. Resolves to the final report of the turn, if there is one. */
  onStreamEnd(aside: Report | undefined): Promise<Report | undefined>
  /**
   * A stream failed or could not be opened, or `reason` is `pushNotified` or `snapshotReceived`. Resolves to the final
   * report of the turn, or to undefined to try again.
   */
  onStreamFailure(reason: unknown): Promise<Report | undefined>
  /** Calls `wake` when the agent sends a notification. */
  onNotification(wake: () => void): () => void
}

/**
 * How to open the next stream: reconcile first, send the message, subscribe with what our log has, or resume after a
 * cursor.
 */
type StreamSource = 'find' | 'send' | 'look' | { readonly cursor: string }

/** A notification arrived: the task has changed. */
export const pushNotified = new Error('a notification came')
/** The peer sent a snapshot instead of the events after the cursor. Only a comparison with our log tells what is new. */
export const snapshotReceived = new Error('the task was shown')
/** Minimum time between two fetches, however many notifications arrive. */
const notificationPauseMs = 100
const firstPauseMs = 250
const longestPauseMs = 10_000
/** After a crash, at most this many events or this much time is read again. */
const maxUnsavedEvents = 64
const maxUnsavedMs = 500

/** Agents that rejected our push notification config. */
const refusesPush = new WeakSet<RemoteAgent>()

export async function openRemoteTurn(
  turn: Turn,
  deps: RemoteTurnDeps,
  start: RemoteTurnStart,
  translator: EventTranslator,
  cancellation: TurnCancellation,
): Promise<RemoteTurn> {
  const { entry, upstream, pushReceiver, idMapping, now, monotonicNow } = deps
  const { isResumed, span } = start
  let { remote, checkpoint } = start
  let skip = 0
  let source = await initialSource()
  let contextId = checkpoint.taskId === undefined ? await idMapping.remoteContextId(turn) : undefined
  let push = canNotify() ? await pushReceiver.configFor(turn.task.id) : undefined
  let heardAt = monotonicNow()
  let failures = 0
  // The first cursor is stored at once: from then on the log tells the position.
  let savedAt = -Infinity
  let unsaved = 0
  if (checkpoint.taskId !== undefined) cancellation.setRemoteTask(remote, checkpoint.taskId, callOptionsNow())

  return {
    get taskId() {
      return checkpoint.taskId
    },
    async openStream(signal) {
      if (source === 'find') source = await reconcile(signal)
      const { taskId } = checkpoint
      if (source === 'send' || taskId === undefined) return send(signal)
      if (typeof source === 'object')
        return remote.subscribe(taskId, { ...callOptionsNow(), signal, lastEventId: source.cursor })
      translator.expectRepeat()
      return remote.subscribe(taskId, {
        ...callOptionsNow(),
        signal,
        knownTask: { id: taskId, ...(await translator.knownArtifacts()) },
      })
    },
    async recordArrival({ taskId, contextId: theirs }) {
      heardAt = monotonicNow()
      failures = 0
      if (checkpoint.arrived === true || taskId === undefined) return
      await recordArrived({ taskId })
      await idMapping.record(turn, { taskId, contextId: theirs }).catch((cause: unknown) => {
        turn.log.warn('the id of the remote task could not be stored', { taskId: turn.task.id, cause })
      })
    },
    isAlreadyLogged() {
      if (skip === 0) return false
      skip -= 1
      return true
    },
    recordQuestion: asked,
    recordDelivered({ id }) {
      if (id === undefined || skip > 0 || !hasCursorExtension(remote.card)) return
      const { skip: _, ...rest } = checkpoint
      checkpoint = { ...rest, cursor: id }
      unsaved += 1
      if (unsaved < maxUnsavedEvents && monotonicNow() - savedAt < maxUnsavedMs) return
      unsaved = 0
      savedAt = monotonicNow()
      // Not awaited: until the write completes the previous checkpoint applies, and the log tells how many events followed
      // it.
      void turn.checkpoint(checkpoint)
    },
    onStreamEnd,
    onStreamFailure,
    onNotification(wake) {
      if (push === undefined) return () => {}
      // While the message is being sent, its response is awaited instead.
      return pushReceiver.onNotification(turn.task.id, () => checkpoint.arrived === true && wake())
    },
  }

  async function saveCheckpoint(next: RemoteCheckpoint): Promise<void> {
    checkpoint = next
    await turn.checkpoint(checkpoint).catch((cause: unknown) => {
      throw new CheckpointFailed('the checkpoint of the remote task could not be stored', { cause })
    })
  }

  async function asked(status: TaskStatus): Promise<void> {
    await recordArrived({ asked: remoteQuestionOf(status) })
  }

  /** The remote agent has the message. Stores its task id and its question, if any. */
  async function recordArrived({
    taskId = checkpoint.taskId,
    asked: question,
  }: Pick<RemoteCheckpoint, 'taskId' | 'asked'>): Promise<void> {
    const { round, messageId, span: ofTrace } = checkpoint
    if (taskId !== undefined) span.set({ childTaskId: taskId })
    await saveCheckpoint({
      round,
      messageId,
      ...(ofTrace !== undefined ? { span: ofTrace } : {}),
      ...(taskId !== undefined ? { taskId } : {}),
      arrived: true,
      ...(question !== undefined ? { asked: question } : {}),
    })
    if (taskId !== undefined) cancellation.setRemoteTask(remote, taskId, callOptionsNow())
  }

  async function onStreamEnd(aside: Report | undefined): Promise<Report | undefined> {
    if (aside !== undefined && checkpoint.taskId !== undefined) {
      const { status } = await remote.get(checkpoint.taskId, callOptionsNow())
      // The agent answered the answer and still waits for input.
      if (isInterrupted(status.state)) {
        await asked(status)
        return { ...(aside as StateReport), state: status.state }
      }
    }
    return onStreamFailure(new A2AError('INTERRUPTED', 'The stream ended before the task did'))
  }

  async function onStreamFailure(reason: unknown): Promise<Report | undefined> {
    if (reason instanceof FinalReport) return reason.report
    if (reason === pushNotified || reason === snapshotReceived) {
      source = 'look'
      skip = 0
      if (reason === pushNotified) await delay(notificationPauseMs, cancellation.signal)
      return undefined
    }
    if (!(reason instanceof A2AError)) return remoteFailure(reason, turn)
    if (checkpoint.arrived === true ? !isTransient(reason) : !(await canRetrySend(reason)))
      return remoteFailure(reason, turn)
    if (!isTransient(reason)) return source === 'find' ? deliveryUnknown() : undefined
    if (monotonicNow() - heardAt > entry.patience) return remoteFailure(reason, turn)
    await delay(Math.min(longestPauseMs, firstPauseMs * 2 ** failures), cancellation.signal)
    failures += 1
    upstream.invalidate()
    remote = await upstream.remote(cancellation.signal).catch(() => remote)
    if (checkpoint.arrived === true) continueStream()
    return undefined
  }

  function continueStream(): void {
    source = checkpoint.cursor === undefined ? 'look' : { cursor: checkpoint.cursor }
    skip = checkpoint.skip ?? 0
  }

  async function initialSource(): Promise<StreamSource> {
    if (!isResumed) return 'send'
    if (checkpoint.arrived !== true) return 'find'
    if (checkpoint.cursor === undefined) return 'look'
    skip = (checkpoint.skip ?? 0) + (turn.resumed?.reports ?? 0)
    const { cursor } = checkpoint
    // Other reports of this turn, such as that it is queued, must not be counted as remote events.
    await saveCheckpoint({ ...checkpoint, skip })
    return { cursor }
  }

  function canNotify(): boolean {
    const { streaming, pushNotifications } = remote.card.capabilities
    return entry.pushFrom === 'auto' && streaming !== true && pushNotifications === true && !refusesPush.has(remote)
  }

  function callOptionsNow() {
    return callOptions(turn, remote.card, entry, span.traceparent)
  }

  async function send(signal: AbortSignal): Promise<EventStream> {
    const before = previousTaskId(turn)
    const referenceTaskIds = [...(await idMapping.remoteReferences(turn)), ...(before !== undefined ? [before] : [])]
    const { traceparent } = span
    const hop = await deps.inProcessClient.hopTokenFor(turn, { card: remote.card, messageId: checkpoint.messageId })
    const to = { checkpoint, contextId, referenceTaskIds, push, hopToken: hop, traceparent }
    const { message, options } = createOutgoingMessage(turn, remote.card, entry, to)
    return remote.stream(message, { ...options, signal, knownTask: await knownBefore() })
  }

  /** What our log has of the remote task: for a task that asked, its artifacts and its question; for a new one, nothing. */
  async function knownBefore(): Promise<Partial<Task>> {
    const { taskId: id, asked } = checkpoint
    if (id === undefined) return {}
    const { state, timestamp, messageId } = asked ?? { state: 'TASK_STATE_INPUT_REQUIRED' as const }
    const status: TaskStatus = {
      state,
      ...(timestamp !== undefined ? { timestamp } : {}),
      ...(messageId !== undefined ? { message: { messageId, role: 'ROLE_AGENT', parts: [] } } : {}),
    }
    return { id, status, ...(await translator.knownArtifacts()) }
  }

  async function reconcile(signal: AbortSignal): Promise<StreamSource> {
    const found = await reconcileSend(remote, checkpoint, contextId, { ...callOptionsNow(), signal }, now())
    if (found === 'unknown') throw new FinalReport(deliveryUnknown())
    if (found === 'send') {
      if (isResumed && isRedacted(turn.message)) throw new FinalReport(secretLost())
      return 'send'
    }
    await recordArrived(found)
    return 'look'
  }

  /** Whether to retry a failed send: again, without rejected options, or after reconciling. */
  async function canRetrySend(error: A2AError): Promise<boolean> {
    if (source === 'find') return true
    if (mayHaveArrived(error)) {
      source = 'find'
      return true
    }
    if (await hasMovedOn(error)) return true
    return dropRefusedOptions(error)
  }

  /** The task that asked has continued without us or has ended. Then the turn reports that (B-43, B-156). */
  async function hasMovedOn({ code }: A2AError): Promise<boolean> {
    const { taskId } = checkpoint
    if (taskId === undefined || !/^(UNSUPPORTED_OPERATION|INVALID_PARAMS|INVALID_REQUEST)$/.test(code)) return false
    const task = await remote.get(taskId, callOptionsNow()).catch(() => undefined)
    if (task === undefined || isInterrupted(task.status.state)) return false
    await recordArrived({ taskId })
    source = 'look'
    return true
  }

  /**
   * Removes options that we added and the peer rejected: it may not accept our push URL, or context ids it did not create
   * (B-56).
   */
  function dropRefusedOptions({ code }: A2AError): boolean {
    if (push !== undefined && /^(INVALID_PARAMS|PUSH_NOTIFICATION_NOT_SUPPORTED|PERMISSION_DENIED)$/.test(code)) {
      push = undefined
      refusesPush.add(remote)
      return true
    }
    if (contextId === undefined || !/^(INVALID_PARAMS|CONTEXT_REJECTED)$/.test(code)) return false
    contextId = undefined
    return true
  }
}

/** Our log rejected a checkpoint: the turn has ended, or the store is unavailable. Nothing more can be reported. */
export class CheckpointFailed extends Error {}

/** Ends the turn with this report. */
class FinalReport extends Error {
  readonly report: Report
  constructor(report: Report) {
    super('the last word')
    this.report = report
  }
}

/** Whether a retry may succeed. Errors that a peer calls internal are often transient. */
function isTransient(error: A2AError): boolean {
  return error.retryable || error.code === 'INTERNAL'
}
