/**
 * One turn with the remote agent as a state machine: over as many streams as needed, across restarts of either side, and
 * until the caller cancels it. Each step performs one state and returns the next one. Failures of the remote agent are
 * values (`failed`). Only our own log ends the turn by an exception: if it rejects a checkpoint, nothing more can be
 * reported.
 */
import { A2AError, isInterrupted, type Report, type TaskStatus, type Turn, isRedacted } from '@parley/a2a'
import { linkSignals, type OpenSpan, type SpanOutcome, type StateReport } from '@parley/a2a/internal'
import type { CallOptions, EventFrame, EventStream, RemoteAgent } from '@parley/a2a/client'
import type { InProcessClient } from '../kind.ts'
import { quietSleep } from '../timeouts.ts'
import { createTurnPosition, hasCursorExtension, knownQuestion, previousTaskId } from './checkpoint.ts'
import type { RemoteCheckpoint, RemoteIdMapping } from './checkpoint.ts'
import type { A2AEntry } from './entry.ts'
import { callOptions, createEventTranslator, createOutgoingMessage } from './message-translation.ts'
import type { PushReceiver, RequestedPushConfig } from './push-receiver.ts'
import { hasMovedOn, isTransient, mayHaveArrived, reconcileSend } from './reconcile-send.ts'
import { deliveryUnknown, remoteFailure, secretLost } from './remote-failure.ts'
import type { Upstream } from './upstream.ts'

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
  readonly cancellation: TurnCancellation
  /** For a new remote task: its context, as `RemoteIdMapping.remoteContextId` returns it. Default: it is read when the turn starts. */
  readonly contextId?: string | undefined
  /** For the first send: the token of the check before the turn. Default: signed with the send. */
  readonly firstHopToken?: string | undefined
}

export interface TurnCancellation {
  /** Aborted when events of the remote agent are no longer needed. */
  readonly signal: AbortSignal
  /** Sets the remote task to cancel. */
  setRemoteTask(remote: RemoteAgent, taskId: string, options: CallOptions): void
  /** Marks the turn as ended. */
  end(): void
}

type TurnState =
  /** The message may have arrived. The next step finds out. */
  | { readonly at: 'reconciling' }
  | StreamState
  /** A notification arrived: the task has changed. */
  | { readonly at: 'notified'; readonly taskId: string }
  /** A request or a stream failed. `during` is the state that failed. */
  | { readonly at: 'failed'; readonly during: 'reconciling' | StreamState['at']; readonly error: unknown }
  /** The remote agent cannot be reached, or broke off: connect again after a pause, then continue with `next`. */
  | { readonly at: 'waiting'; readonly next: TurnState }
  /** `report` is the last one of the turn, unless the stream has reported it. */
  | EndedState

/** A state that reads a stream, and how it opens the stream. */
type StreamState =
  | { readonly at: 'sending' }
  /** The remote agent has the message: subscribe, and compare the task with what our log has. */
  | { readonly at: 'subscribing'; readonly taskId: string }
  /** The same, after a cursor. Our log holds the first `skip` reports of the stream. */
  | { readonly at: 'resuming'; readonly taskId: string; readonly cursor: string; readonly skip: number }

interface EndedState {
  readonly at: 'ended'
  readonly report?: Report
}

/** A failure of the remote agent as a value. */
interface Failure {
  readonly error: unknown
}

/** Minimum time between two fetches, however many notifications arrive. */
const notificationPauseMs = 100
const firstPauseMs = 250
const longestPauseMs = 10_000

/** Agents that rejected our push notification config. */
const refusesPush = new WeakSet<RemoteAgent>()

/** `prepare` is a part of it, and not a generator around it: every layer of generators costs a report several microtasks. */
export async function* runRemoteTurn(
  turn: Turn,
  deps: RemoteTurnDeps,
  prepare: () => Promise<RemoteTurnStart>,
): AsyncGenerator<Report, void, undefined> {
  const { entry, upstream, pushReceiver, idMapping, now, monotonicNow } = deps
  const start = await prepare()
  const { isResumed, span, cancellation } = start
  const { signal } = cancellation
  const translator = createEventTranslator(turn, start.checkpoint.round)
  const position = createTurnPosition(turn, start, idMapping, monotonicNow, (taskId) =>
    cancellation.setRemoteTask(remote, taskId, callOptionsNow()),
  )
  let { remote, firstHopToken } = start
  let contextId: string | undefined
  let push: RequestedPushConfig | undefined
  let heardAt = monotonicNow()
  let failures = 0
  let lastReport: Report | undefined
  try {
    let state = await initialState()
    const { taskId } = start.checkpoint
    if (taskId === undefined) contextId = start.contextId ?? (await idMapping.remoteContextId(turn))
    if (canNotify()) push = await pushReceiver.configFor(turn.task.id)
    heardAt = monotonicNow()
    if (taskId !== undefined) cancellation.setRemoteTask(remote, taskId, callOptionsNow())
    while (state.at !== 'ended' && !signal.aborted)
      state = readsStream(state) ? yield* readStream(state) : await step(state)
    if (state.at === 'ended' && state.report !== undefined) yield (lastReport = state.report)
  } finally {
    cancellation.end()
    span.end(remoteSpanOutcome(lastReport, turn))
  }

  async function step(current: Exclude<TurnState, StreamState | EndedState>): Promise<TurnState> {
    switch (current.at) {
      case 'reconciling':
        return reconcile()
      case 'notified':
        await quietSleep(notificationPauseMs, signal)
        return { at: 'subscribing', taskId: current.taskId }
      case 'failed':
        return afterFailure(current)
      case 'waiting':
        await reconnect()
        return current.next
    }
  }

  async function initialState(): Promise<TurnState> {
    if (!isResumed) return { at: 'sending' }
    if (start.checkpoint.arrived !== true) return { at: 'reconciling' }
    const next = arrivedState()
    if (next.at !== 'resuming') return next
    const skip = next.skip + (turn.resumed?.reports ?? 0)
    // Other reports of this turn, such as that it is queued, must not be counted as remote events.
    await position.save({ ...position.checkpoint, skip })
    return { ...next, skip }
  }

  /** How to read on once the remote agent has the message. */
  function arrivedState(): TurnState {
    const { taskId, cursor, skip = 0 } = position.checkpoint
    if (taskId === undefined) return { at: 'reconciling' }
    return cursor === undefined ? { at: 'subscribing', taskId } : { at: 'resuming', taskId, cursor, skip }
  }

  async function reconcile(): Promise<TurnState> {
    const options = { ...callOptionsNow(), signal }
    const found = await orFailure(reconcileSend(remote, position.checkpoint, contextId, options, now()))
    if (found === 'unknown') return { at: 'ended', report: deliveryUnknown() }
    if (found === 'send') {
      return isResumed && isRedacted(turn.message) ? { at: 'ended', report: secretLost() } : { at: 'sending' }
    }
    if ('error' in found) return { at: 'failed', during: 'reconciling', error: found.error }
    await position.recordArrived(found)
    return { at: 'subscribing', taskId: found.taskId }
  }

  async function* readStream(current: StreamState): AsyncGenerator<Report, TurnState, undefined> {
    // Only a notification aborts a stream without the turn.
    const streamSignals = push === undefined ? { signal, abort() {}, end() {} } : linkSignals([signal])
    let isNotified = false
    const stopListening = onNotification(() => {
      isNotified = true
      streamSignals.abort()
    })
    const failed = ({ error }: Failure): TurnState => {
      const { taskId } = position.checkpoint
      return isNotified && taskId !== undefined
        ? { at: 'notified', taskId }
        : { at: 'failed', during: current.at, error }
    }
    let frames: ReturnType<EventStream['frames']> | undefined
    let skip = current.at === 'resuming' ? current.skip : 0
    let interimReply: Report | undefined
    const hasCursors = hasCursorExtension(remote.card)
    try {
      const stream = await orFailure(openStream(current, streamSignals.signal))
      if ('error' in stream) return failed(stream)
      frames = stream.frames()
      for (;;) {
        const next = await orFailure(frames.next())
        if ('error' in next) return failed(next)
        if (next.done === true) return await afterStreamEnd(current, interimReply)
        const { value: frame } = next
        // The peer sent a snapshot instead of the events after the cursor. Only a comparison with our log tells what is new.
        if (current.at === 'resuming' && 'task' in frame.event) return { at: 'subscribing', taskId: current.taskId }
        heardAt = monotonicNow()
        failures = 0
        const translated = await orFailure(translate(frame, stream))
        if ('error' in translated) return failed(translated)
        const { report } = translated
        // An event without a report is in the log with the checkpoint that precedes it.
        const isInLog = report === undefined && skip === 0
        const arrival = position.recordArrival(stream, isInLog && hasCursors ? frame : undefined)
        if (arrival !== undefined) await arrival
        const { settledStatus } = translator
        const isLast = report !== undefined && (settledStatus !== undefined || isReply(report))
        // A last report in the log would have ended the turn.
        if (report !== undefined && skip > 0 && !isLast) skip -= 1
        else if (report !== undefined) {
          if (settledStatus !== undefined && isInterrupted(settledStatus.state))
            await position.recordQuestion(settledStatus)
          if (settledStatus !== undefined) yield* answerFromStatus(settledStatus)
          const idsRecorded = isLast ? position.idsRecorded() : undefined
          if (idsRecorded !== undefined) await idsRecorded
          yield (lastReport = report)
          if (isLast) return { at: 'ended' }
          if ('message' in frame.event) interimReply = report
        }
        if (skip === 0 && hasCursors) position.recordDelivered(frame)
      }
    } finally {
      stopListening()
      streamSignals.end()
      await frames?.return().catch(() => {})
    }
  }

  /**
   * Some peers (LangGraph's server) answer in a status message while they work, and complete the task without an artifact. Callers
   * find no answer in the completed task, so the text becomes an artifact.
   */
  async function* answerFromStatus({ state, message }: TaskStatus): AsyncGenerator<Report, void, undefined> {
    const { lastStatusText: text } = translator
    const { taskId } = position.checkpoint
    if (state !== 'TASK_STATE_COMPLETED' || message !== undefined || text === undefined || taskId === undefined) return
    const stored = await orFailure(remote.get(taskId, { ...callOptionsNow(), signal }))
    if ('error' in stored || stored.artifacts?.length || stored.status.message !== undefined) return
    // A process before may have ended after this artifact.
    if ((await translator.knownArtifacts()).artifacts?.length) return
    const artifact = { artifactId: 'answer', parts: [{ text }] }
    const update = { taskId, contextId: stored.contextId ?? '', artifact, lastChunk: true }
    const report = await translator.translate({ artifactUpdate: update }, true)
    if (report !== undefined) yield report
  }

  async function openStream(current: StreamState, streamSignal: AbortSignal): Promise<EventStream> {
    if (current.at === 'sending') return send(streamSignal)
    const { taskId } = current
    const options = { ...callOptionsNow(), signal: streamSignal }
    if (current.at === 'resuming') return remote.subscribe(taskId, { ...options, lastEventId: current.cursor })
    translator.expectRepeat()
    return remote.subscribe(taskId, { ...options, knownTask: { id: taskId, ...(await translator.knownArtifacts()) } })
  }

  async function send(streamSignal: AbortSignal): Promise<EventStream> {
    const { checkpoint } = position
    const before = previousTaskId(turn)
    const referenceTaskIds = [...(await idMapping.remoteReferences(turn)), ...(before !== undefined ? [before] : [])]
    const { traceparent } = span
    const { messageId } = checkpoint
    const hop = firstHopToken ?? (await deps.inProcessClient.hopTokenFor(turn, { card: remote.card, messageId }))
    firstHopToken = undefined
    const to = { checkpoint, contextId, referenceTaskIds, push, hopToken: hop, traceparent }
    const { message, options } = createOutgoingMessage(turn, remote.card, entry, to)
    // What our log has of the remote task: of a task that asked, its question and its artifacts; of a new one, nothing.
    const question = knownQuestion(checkpoint)
    const knownTask = question === undefined ? {} : { ...question, ...(await translator.knownArtifacts()) }
    return remote.stream(message, { ...options, signal: streamSignal, knownTask })
  }

  async function translate(
    { event }: EventFrame,
    stream: EventStream,
  ): Promise<{ readonly report: Report | undefined }> {
    const taskId = position.checkpoint.taskId ?? stream.taskId
    return { report: await translator.translate(event, taskId !== undefined) }
  }

  /** The stream ended before the task did. */
  async function afterStreamEnd({ at: during }: StreamState, interimReply: Report | undefined): Promise<TurnState> {
    const { taskId } = position.checkpoint
    if (interimReply !== undefined && taskId !== undefined) {
      const task = await orFailure(remote.get(taskId, callOptionsNow()))
      if ('error' in task) return { at: 'failed', during, error: task.error }
      // The agent answered the answer and still waits for input.
      if (isInterrupted(task.status.state)) {
        await position.recordQuestion(task.status)
        return { at: 'ended', report: { ...(interimReply as StateReport), state: task.status.state } }
      }
    }
    return { at: 'failed', during, error: new A2AError('INTERRUPTED', 'The stream ended before the task did') }
  }

  /** Decides whether to go on: again, without rejected options, after reconciling, or not at all. */
  async function afterFailure({ during, error }: Extract<TurnState, { at: 'failed' }>): Promise<TurnState> {
    const fail = (): TurnState => ({ at: 'ended', report: remoteFailure(error, turn) })
    const retry = (next: TurnState): TurnState =>
      monotonicNow() - heardAt > entry.reconnectTimeout ? fail() : { at: 'waiting', next }
    if (!(error instanceof A2AError)) return fail()
    if (position.checkpoint.arrived === true) return isTransient(error) ? retry(arrivedState()) : fail()
    if (during === 'reconciling')
      return isTransient(error) ? retry({ at: 'reconciling' }) : { at: 'ended', report: deliveryUnknown() }
    if (mayHaveArrived(error)) return retry({ at: 'reconciling' })
    const { taskId } = position.checkpoint
    if (taskId !== undefined && (await hasMovedOn(remote, taskId, error, callOptionsNow()))) {
      await position.recordArrived({ taskId })
      return { at: 'subscribing', taskId }
    }
    return dropRefusedOptions(error) ? { at: 'sending' } : fail()
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

  async function reconnect(): Promise<void> {
    await quietSleep(Math.min(longestPauseMs, firstPauseMs * 2 ** failures), signal)
    failures += 1
    upstream.invalidate()
    remote = await upstream.remote(signal).catch(() => remote)
  }

  function canNotify(): boolean {
    const { streaming, pushNotifications } = remote.card.capabilities
    return entry.pushFrom === 'auto' && streaming !== true && pushNotifications === true && !refusesPush.has(remote)
  }

  function onNotification(wake: () => void): () => void {
    if (push === undefined) return () => {}
    // While the message is being sent, its response is awaited instead.
    return pushReceiver.onNotification(turn.task.id, () => position.checkpoint.arrived === true && wake())
  }

  function callOptionsNow(): CallOptions {
    return callOptions(turn, remote.card, entry, span.traceparent)
  }
}

async function orFailure<T>(work: Promise<T>): Promise<T | Failure> {
  try {
    return await work
  } catch (error) {
    return { error }
  }
}

function remoteSpanOutcome(last: Report | undefined, { signal }: Turn): SpanOutcome {
  const state = typeof last === 'object' && 'state' in last ? last.state : undefined
  if (state === 'TASK_STATE_CANCELED' || (state === undefined && signal.aborted)) return 'canceled'
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' ? 'error' : 'ok'
}

function readsStream(state: TurnState): state is StreamState {
  return state.at === 'sending' || state.at === 'subscribing' || state.at === 'resuming'
}

function isReply(report: Report): boolean {
  return typeof report === 'object' && 'reply' in report
}
