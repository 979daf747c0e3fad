/**
 * Yields the events of a task to the end of the agent's turn, each once, over as many connections as needed (B-98). A stream
 * that ends before the task has settled was interrupted, whichever side closed it. It resumes after the last cursor if the peer
 * sends cursors (B-109); otherwise a peer of 1.0 is subscribed to, which returns the current task, and what is new in it is
 * yielded; otherwise the task is polled. A peer of 0.x without cursors gets a subscription only if the caller asks for one: the
 * servers of the Python SDK 0.3 store every chunk once more for each subscriber.
 */
import { type Task, taskIdOfEvent } from '../../model/task.ts'
import { A2AError } from '../../model/error.ts'
import { cursorExtension } from '../../model/extension.ts'
import { linkSignals } from '../../model/signals.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import { hasSettled, isInterrupted, isTerminal } from '../../model/state.ts'
import type { CallOptions, Session, StreamOptions, EventFrame, TransportStream } from '../contract.ts'
import { sleep } from '../sleep.ts'
import { applyEvent, taskStateOf } from './stream-state.ts'
import { canRetry, backoffDelayMs } from '../retry.ts'
import { createEventDeduper, gapError, frameWithoutCursor } from './dedupe-events.ts'

/** A stream begins with a message, or with a task and the cursor after which to resume. */
export interface StreamStart {
  /** Called when the stream is first read, because it may have to read files. */
  readonly request?: () => Promise<SendMessageRequest>
  readonly taskId?: string
  readonly lastEventId?: string | undefined
  /** The caller needs the end of the turn and not its events. */
  readonly awaitsEnd?: boolean
}

/** Errors that a new connection would not change. */
const finalErrors = /^(UNAUTH|PERMISSION|PAYLOAD)/
/** The end of a task that may have no artifacts is delayed by at most this long. */
const artifactCheckMs = 10_000
/** Errors of a peer without streams, whatever its card declares. The peer has done nothing yet. */
const streamingUnsupported = /^(UNSUPPORTED_OP|METHOD)/

export async function* followTask(
  session: Session,
  { request, taskId: joined, lastEventId, awaitsEnd = false }: StreamStart,
  { timeoutMs, signal: parent, lastEventId: _, knownTask, ...options }: StreamOptions = {},
): AsyncGenerator<EventFrame, void, undefined> {
  const { limits } = session
  const { firstPollMs = limits.firstDelayMs } = limits
  const send = await request?.()
  const { signal, end } =
    parent !== undefined && timeoutMs === undefined ? { signal: parent, end() {} } : linkSignals([parent], timeoutMs)
  const about = { ...options, signal }
  const deduper = createEventDeduper(joined, lastEventId, knownTask)
  const { state: streamState } = deduper
  const continues = joined !== undefined && (awaitsEnd || knownTask !== undefined)
  let mode: 'stream' | 'ask' | 'poll' = continues && !canResume() ? 'poll' : 'stream'
  let stream: TransportStream | undefined
  const startedAt = performance.now()
  let connections = 0
  /** Connections in a row that brought nothing new. */
  let failures = 0
  /** Events of this connection, and whether one was new. */
  let eventCount = 0
  let hasProgress = false
  /** The peer may end the stream here. */
  let isSettled = false
  /** The task was read before a subscription that may not begin with it. */
  let hasReadTask = false
  /** That subscription began with the next event, as those of the Python SDK do. */
  let mayBeStoredTwice = false
  /** The peer has nothing after our cursor. */
  let isCaughtUp = false

  try {
    for (;;) {
      let step: IteratorResult<EventFrame, void>
      let newFrames: readonly EventFrame[]
      try {
        stream ??= await open()
        step = await stream.next()
        newFrames = step.done === true ? [] : filterNew(step.value)
      } catch (reason) {
        await close()
        await recover(reason)
        continue
      }
      for (const frame of newFrames) {
        const ends = isEnd(frame)
        if (ends && (deduper.hasPossibleGap || needsArtifactCheck(step.value)))
          for (const missing of await findMissing(deduper.hasPossibleGap ? limits.timeoutMs : artifactCheckMs))
            yield emit(missing)
        yield emit(frame)
        if (ends) return
      }
      if (step.done !== true && step.value.final !== true) continue
      if (isSettled) return
      await close()
      await recover(new A2AError('INTERRUPTED', 'The stream ended before the task did'), true)
    }
  } catch (reason) {
    // On a timeout the error names the task and the cursor; the caller's own abort reason is passed on unchanged.
    throw reason === signal.reason && parent?.aborted !== true ? withResumePosition(reason as A2AError) : reason
  } finally {
    end()
    await close()
  }

  async function close(): Promise<void> {
    const last = stream
    stream = undefined
    await last?.return().catch(() => {})
  }

  function open(): TransportStream | Promise<TransportStream> {
    eventCount = 0
    hasProgress = false
    const attempt = ++connections
    if (mode === 'poll') return poll()
    if (mode === 'ask') return sendThenPoll()
    const { taskId, cursor } = deduper
    if (taskId === undefined)
      return session.open('SendStreamingMessage', send as SendMessageRequest, { ...about, attempt })
    const after = cursor === undefined ? {} : { lastEventId: cursor }
    if (!canResume()) return readThenSubscribe(taskId)
    return session.open('SubscribeToTask', { id: taskId }, { ...about, attempt, ...after })
  }

  /** Whether a subscription after a break continues the stream. The card says so before the first cursor has arrived. */
  function canResume(): boolean {
    const { card, interface: used } = session
    if (used.version >= '1.0' || deduper.cursor !== undefined) return true
    return card.capabilities.extensions?.some(({ uri }) => uri === cursorExtension) ?? false
  }

  /** In this order, because the stored task is wrong as soon as the subscription has stored its first chunk. */
  async function* readThenSubscribe(id: string): TransportStream {
    // A task that cannot be read cannot be polled either.
    mode = 'poll'
    const task = await fetchTask(about)
    mode = 'stream'
    hasReadTask = true
    if (isTerminal(task.status.state)) return yield frameWithoutCursor({ task })
    const opening = session.open('SubscribeToTask', { id }, about)
    try {
      // A reader that reacts to the task must not miss the reaction. Over gRPC some peers respond only with the first event.
      await Promise.race([opening, sleep(limits.firstDelayMs, signal)])
      yield frameWithoutCursor({ task })
      yield* await opening
    } finally {
      opening.then((opened) => opened.return()).catch(() => {})
    }
  }

  /** A follow-up waits for its response: a task fetched at once might still show the question (B-102). */
  async function* sendThenPoll(): TransportStream {
    const request = send as SendMessageRequest
    const returnImmediately = request.message.taskId === undefined
    const configuration = { ...request.configuration, returnImmediately }
    yield frameWithoutCursor(await session.call('SendMessage', { ...request, configuration }, about))
    mode = 'poll'
    await sleep(firstPollMs, signal)
    yield* poll()
  }

  async function* poll(): TransportStream {
    for (let waitMs = firstPollMs; ; waitMs = Math.min(limits.pollMs, waitMs * 2)) {
      yield frameWithoutCursor({ task: await fetchTask(about) })
      if (isSettled) return
      await sleep(waitMs, signal)
    }
  }

  function fetchTask(how: CallOptions): Promise<Task> {
    const historyLength = streamState.taskId === undefined ? {} : { historyLength: 0 }
    return session.call('GetTask', { id: deduper.taskId as string, ...historyLength }, how)
  }

  function filterNew(frame: EventFrame): readonly EventFrame[] {
    const { event } = frame
    const id = taskIdOfEvent(event)
    if (id !== undefined && id !== '' && deduper.taskId !== undefined && id !== deduper.taskId) {
      if (mode !== 'poll') return []
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer returned a different task than requested')
    }
    eventCount += 1
    if (isCaughtUp && streamState.taskId === undefined && 'task' in event) {
      applyEvent(streamState, event)
      isSettled = hasSettled(event.task.status.state)
      return []
    }
    // A subscription with a known task joins in the middle.
    const isFirstAfterResume =
      mode === 'poll' ||
      (eventCount === 1 && (connections > 1 || (knownTask !== undefined && joined !== undefined))) ||
      (eventCount === 2 && hasReadTask && 'task' in event)
    const newFrames = deduper.filterNew(frame, isFirstAfterResume)
    if (mode === 'poll' && mayBeStoredTwice && newFrames.some((each) => 'artifactUpdate' in each.event))
      throw new A2AError('INTERRUPTED', 'The subscription broke off, and the peer may have stored its events twice')
    if (mode === 'stream' && hasReadTask && eventCount === 2) mayBeStoredTwice = !('task' in event)
    const isShownFirst = knownTask !== undefined && 'task' in event && deduper.taskId === undefined
    if (!isShownFirst || mode !== 'stream' || send?.message.taskId === undefined) return newFrames
    // The question that this message answers (B-102).
    deduper.taskId = id
    return newFrames.filter(({ event: each }) => !isInterrupted(taskStateOf(each) ?? 'TASK_STATE_UNSPECIFIED'))
  }

  function isEnd({ event, final }: EventFrame): boolean {
    if ('message' in event) return streamState.taskId === undefined
    const state = taskStateOf(event)
    // The end of a 0.x stream says nothing about a task that is still working (B-98).
    if (state === undefined || !hasSettled(state)) return final === true && state === 'TASK_STATE_UNSPECIFIED'
    if (final === true || isTerminal(state) || mode === 'poll') return true
    // A subscription lasts as long as the peer allows; a follow-up may first get the question that it answers.
    return (
      send !== undefined && !('task' in event && streamState.taskId === undefined && send.message.taskId !== undefined)
    )
  }

  function emit(frame: EventFrame): EventFrame {
    // A follow-up first gets the task as the message found it. One that has ended may be all that the peer sends.
    const { event } = frame
    const isEarlier =
      !hasProgress &&
      connections === 1 &&
      send?.message.taskId !== undefined &&
      'task' in event &&
      !isTerminal(event.task.status.state)
    hasProgress = true
    deduper.record(frame)
    isSettled = 'message' in event || (streamState.status !== undefined && hasSettled(streamState.status.state))
    return isEarlier ? { ...frame, isEarlier } : frame
  }

  /**
   * Some peers (fasta2a) stream states only and keep the artifacts in the task. If events have no ids, nothing shows that the
   * stream was complete, so the task is fetched once.
   */
  function needsArtifactCheck(received: EventFrame | void): boolean {
    if (!received || received.id !== undefined || !('statusUpdate' in received.event)) return false
    return streamState.artifacts.size === 0 && taskStateOf(received.event) === 'TASK_STATE_COMPLETED'
  }

  async function findMissing(timeoutMs: number): Promise<readonly EventFrame[]> {
    if (mode === 'poll') return []
    try {
      const task = await fetchTask({ ...about, timeoutMs: Math.min(timeoutMs, limits.timeoutMs) })
      return task.id === deduper.taskId ? deduper.missingFrom(task) : []
    } catch {
      signal.throwIfAborted()
      return []
    }
  }

  /** Prepares the next attempt, or gives up. */
  async function recover(error: unknown, ended = false): Promise<void> {
    const { taskId, cursor } = deduper
    signal.throwIfAborted()
    if (!(error instanceof A2AError) || finalErrors.test(error.code)) throw error
    if (taskId === undefined) {
      if (eventCount === 0 && mode === 'stream' && streamingUnsupported.test(error.code)) {
        mode = 'ask'
        return
      }
      if (mode === 'ask') throw interruption(error)
    } else if (mode === 'poll') throw interruption(error)
    else if (error === gapError || !canResume() || (eventCount === 0 && (ended || !error.retryable))) {
      // An error, or an end without a final event: only the task itself can say more.
      isCaughtUp = ended && cursor !== undefined
      mode = 'poll'
      return
    } else if (cursor === undefined) {
      deduper.hasPossibleGap = streamState.taskId !== undefined
    }
    const isIdle = error.details['reason'] === 'IDLE' && (eventCount > 0 || cursor !== undefined)
    failures = hasProgress || isIdle ? 0 : failures + 1
    const delayMs = backoffDelayMs(failures + 1, error, limits)
    if (failures >= limits.attempts && eventCount > 0 && taskId !== undefined) {
      // The peer responds and shows the task, but its streams end before there is an update: poll it instead.
      mode = 'poll'
      return
    }
    if (failures >= limits.attempts || delayMs === undefined || (taskId === undefined && !maySendAgain(error, delayMs)))
      throw interruption(error)
    session.log.debug?.('a stream is resumed', { taskId, cursor, failures, reason: error.message })
    session.onRetry?.({ error, delayMs })
    await sleep(delayMs, signal)
  }

  /** Nothing of the response has arrived: whether the peer would recognize the message as a repeat, `delayMs` from now. */
  function maySendAgain(error: A2AError, delayMs: number): boolean {
    const { messageId } = (send as SendMessageRequest).message
    const agoMs = performance.now() - startedAt + delayMs
    return canRetry(error, 'SendStreamingMessage', session.card, { messageId, agoMs })
  }

  /** Adds what is needed to resume elsewhere. A refusal before the first event is passed on unchanged. */
  function interruption(error: A2AError): A2AError {
    if (!error.retryable || (streamState.taskId === undefined && error.code !== 'INTERRUPTED')) return error
    return withResumePosition(error, 'INTERRUPTED')
  }

  function withResumePosition(error: A2AError, code = error.code): A2AError {
    const { taskId, cursor } = deduper
    return new A2AError(
      code,
      error.message,
      {
        ...error.details,
        ...(send && { messageId: send.message.messageId }),
        ...(taskId !== undefined && { taskId }),
        ...(cursor !== undefined && { lastEventId: cursor }),
      },
      { cause: error },
    )
  }
}
