/**
 * A task's events to the end of the agent's turn, each once, over as many connections as it takes (B-98). A stream that
 * ends before the task has settled was cut off, whoever closed it. We go on after the last cursor where the peer gives
 * them (B-109); else by subscribing, which shows the task as it is, and telling what is new in it; else by polling.
 */
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/linked-signal.ts'
import type { SendMessageRequest } from '../model/operation.ts'
import { hasSettled, isInterrupted, isTerminal } from '../model/state.ts'
import type { StreamEvent, Task } from '../model/task.ts'
import type { CallOptions, Session, StreamOptions, WireEvent, WireStream } from './contract.ts'
import { sleep } from './sleep.ts'
import { reduce, stateIn } from './reduce.ts'
import { mayRepeat, retryDelay } from './retry.ts'
import { createSieve, gap, plain } from './sieve.ts'

export type Start =
  | { readonly operation: 'SendStreamingMessage'; readonly request: SendMessageRequest }
  | { readonly operation: 'SubscribeToTask'; readonly id: string; readonly lastEventId?: string }

/** What no other connection would change. */
const hopeless = /^(UNAUTH|PERMISSION|PAYLOAD)/
/** The end of a task that may have no artifacts at all is not held back for longer than this. */
const checkMs = 10_000
/** As a peer says it that has no streams, whatever its card says. It has done nothing yet. */
const noStreams = /^(UNSUPPORTED_OP|METHOD)/

export async function* follow(
  session: Session,
  start: Start,
  { timeoutMs, signal: parent, lastEventId: _, known, ...options }: StreamOptions = {},
): AsyncGenerator<WireEvent, void, undefined> {
  const { limits } = session
  const send = 'request' in start ? start.request : undefined
  const { signal, end } = linkSignals([parent], timeoutMs)
  const about = { ...options, signal }
  const sieve =
    'id' in start ? createSieve(start.id, start.lastEventId, known) : createSieve(undefined, undefined, known)
  const { told } = sieve
  let way: 'stream' | 'ask' | 'poll' = 'stream'
  let stream: WireStream | undefined
  const startedAt = performance.now()
  let connections = 0
  /** Connections in a row that brought nothing new. */
  let failures = 0
  /** Events of this connection, and whether one was new. */
  let heard = 0
  let progress = false
  /** The peer may end the stream here. */
  let resting = false
  /** The peer has nothing after the cursor that we were given. */
  let caughtUp = false

  try {
    for (;;) {
      let step: IteratorResult<WireEvent, void>
      let news: readonly WireEvent[]
      try {
        stream ??= await open()
        step = await stream.next()
        news = step.done === true ? [] : sift(step.value)
      } catch (reason) {
        await close()
        await recover(reason)
        continue
      }
      for (const frame of news) {
        const ends = isEnd(frame)
        if (ends && sieve.doubt) for (const lost of await findLost(limits.timeoutMs)) yield tell(lost)
        else if (ends && lacksArtifacts(step.value)) for (const lost of await findLost(checkMs)) yield tell(lost)
        yield tell(frame)
        if (ends) return
      }
      if (step.done !== true && step.value.final !== true) continue
      if (resting) return
      await close()
      await recover(new A2AError('INTERRUPTED', 'The stream ended before the task did'), true)
    }
  } catch (reason) {
    // Whoever gives up waiting has to know for what; the caller's own reason is the caller's.
    throw reason === signal.reason && parent?.aborted !== true ? withPlace(reason as A2AError) : reason
  } finally {
    end()
    await close()
  }

  async function close(): Promise<void> {
    const last = stream
    stream = undefined
    await last?.return().catch(() => {})
  }

  function open(): WireStream | Promise<WireStream> {
    heard = 0
    progress = false
    const attempt = ++connections
    if (way === 'poll') return poll()
    if (way === 'ask') return ask()
    const { taskId, cursor } = sieve
    if (taskId === undefined)
      return session.open('SendStreamingMessage', send as SendMessageRequest, { ...about, attempt })
    const after = cursor === undefined ? {} : { lastEventId: cursor }
    return session.open('SubscribeToTask', { id: taskId }, { ...about, attempt, ...after })
  }

  /** A follow-up waits for its answer: a task that was shown at once might still show the question (B-102). */
  async function* ask(): WireStream {
    const request = send as SendMessageRequest
    const returnImmediately = request.message.taskId === undefined
    const configuration = { ...request.configuration, returnImmediately }
    yield plain(await session.call('SendMessage', { ...request, configuration }, about))
    way = 'poll'
    await sleep(limits.firstDelayMs, signal)
    yield* poll()
  }

  async function* poll(): WireStream {
    for (let waitMs = limits.firstDelayMs; ; waitMs = Math.min(limits.pollMs, waitMs * 2)) {
      yield plain({ task: await look(about) })
      if (resting) return
      await sleep(waitMs, signal)
    }
  }

  function look(how: CallOptions): Promise<Task> {
    const historyLength = told.taskId === undefined ? {} : { historyLength: 0 }
    return session.call('GetTask', { id: sieve.taskId as string, ...historyLength }, how)
  }

  function sift(frame: WireEvent): readonly WireEvent[] {
    const { event } = frame
    const id = taskIdIn(event)
    if (id !== undefined && id !== '' && sieve.taskId !== undefined && id !== sieve.taskId) {
      if (way !== 'poll') return []
      throw new A2AError('INVALID_AGENT_RESPONSE', 'The peer shows another task than the one asked for')
    }
    heard += 1
    if (caughtUp && told.taskId === undefined && 'task' in event) {
      reduce(told, event)
      resting = hasSettled(event.task.status.state)
      return []
    }
    // Whoever subscribes with what they know joins in the middle.
    const joins = way === 'poll' || (heard === 1 && (connections > 1 || (known !== undefined && 'id' in start)))
    const news = sieve.sift(frame, joins)
    const isShownFirst = known !== undefined && 'task' in event && sieve.taskId === undefined
    if (!isShownFirst || way !== 'stream' || send?.message.taskId === undefined) return news
    // The question that this message answers (B-102).
    sieve.taskId = id
    return news.filter(({ event: each }) => !isInterrupted(stateIn(each) ?? 'TASK_STATE_UNSPECIFIED'))
  }

  function isEnd({ event, final }: WireEvent): boolean {
    if ('message' in event) return told.taskId === undefined
    const state = stateIn(event)
    // That a stream of 0.x is over says nothing of a task that is at work (B-98).
    if (state === undefined || !hasSettled(state)) return final === true && state === 'TASK_STATE_UNSPECIFIED'
    if (final === true || isTerminal(state) || way === 'poll') return true
    // A subscription lasts as long as the peer lets it; a follow-up may be shown the question that it answers.
    return send !== undefined && !('task' in event && told.taskId === undefined && send.message.taskId !== undefined)
  }

  function tell(frame: WireEvent): WireEvent {
    progress = true
    sieve.tell(frame)
    resting = 'message' in frame.event || (told.status !== undefined && hasSettled(told.status.state))
    return frame
  }

  /**
   * Some peers (fasta2a) stream states only and keep the artifacts in the task. Where events have no ids, nothing says that
   * the stream was whole, so the task is fetched once.
   */
  function lacksArtifacts(received: WireEvent | void): boolean {
    if (!received || received.id !== undefined || !('statusUpdate' in received.event)) return false
    return told.artifacts.size === 0 && stateIn(received.event) === 'TASK_STATE_COMPLETED'
  }

  async function findLost(timeoutMs: number): Promise<readonly WireEvent[]> {
    if (way === 'poll') return []
    try {
      const task = await look({ ...about, timeoutMs: Math.min(timeoutMs, limits.timeoutMs) })
      return task.id === sieve.taskId ? sieve.lostIn(task) : []
    } catch {
      signal.throwIfAborted()
      return []
    }
  }

  /** Sets out for the next try, or gives up. */
  async function recover(error: unknown, ended = false): Promise<void> {
    const { taskId, cursor } = sieve
    signal.throwIfAborted()
    if (!(error instanceof A2AError) || hopeless.test(error.code)) throw error
    if (taskId === undefined) {
      if (heard === 0 && way === 'stream' && noStreams.test(error.code)) {
        way = 'ask'
        return
      }
      if (way === 'ask') throw interruption(error)
    } else if (way === 'poll') {
      throw interruption(error)
    } else if (error === gap || (heard === 0 && (ended || !error.retryable))) {
      // A refusal, or an end without a word: only the task itself can say more.
      caughtUp = ended && cursor !== undefined
      way = 'poll'
      return
    } else if (cursor === undefined) {
      sieve.doubt = told.taskId !== undefined
    }
    const isQuiet = error.details['reason'] === 'IDLE' && (heard > 0 || cursor !== undefined)
    failures = progress || isQuiet ? 0 : failures + 1
    const delayMs = retryDelay(failures + 1, error, limits)
    if (failures >= limits.attempts && heard > 0 && taskId !== undefined) {
      // It is there and shows the task, but its streams do not last until there is news: it can be asked.
      way = 'poll'
      return
    }
    if (failures >= limits.attempts || delayMs === undefined) throw interruption(error)
    if (taskId === undefined && !maySendAgain(error, delayMs)) throw interruption(error)
    session.log.debug?.('a stream is resumed', { taskId, cursor, failures, reason: error.message })
    await sleep(delayMs, signal)
  }

  /** Nothing of the answer has come: whether the peer would take the message, `delayMs` from now, for the one it has. */
  function maySendAgain(error: A2AError, delayMs: number): boolean {
    const { messageId } = (send as SendMessageRequest).message
    const agoMs = performance.now() - startedAt + delayMs
    return mayRepeat(error, 'SendStreamingMessage', session.card, { messageId, agoMs })
  }

  /** With what it takes to go on elsewhere. What was refused before anything was told is told as it is. */
  function interruption(error: A2AError): A2AError {
    if (!error.retryable || (told.taskId === undefined && error.code !== 'INTERRUPTED')) return error
    return withPlace(error, 'INTERRUPTED')
  }

  function withPlace(error: A2AError, code = error.code): A2AError {
    const { taskId, cursor } = sieve
    return new A2AError(
      code,
      error.message,
      {
        ...error.details,
        ...(send !== undefined ? { messageId: send.message.messageId } : {}),
        ...(taskId !== undefined ? { taskId } : {}),
        ...(cursor !== undefined ? { lastEventId: cursor } : {}),
      },
      { cause: error },
    )
  }
}

function taskIdIn(event: StreamEvent): string | undefined {
  if ('task' in event) return event.task.id
  if ('message' in event) return undefined
  return 'statusUpdate' in event ? event.statusUpdate.taskId : event.artifactUpdate.taskId
}
