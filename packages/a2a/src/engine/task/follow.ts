/**
 * The stream of a task: where it begins (with the task at the time of the message, after the reader's cursor, or with the current task),
 * and the log from there as it grows. A reader is a cursor: nothing is queued for it, so a slow reader costs the others nothing. It
 * reads the newest events from memory, shared with all other readers, and older ones from the store.
 */
import { startTimer } from '../../model/clock.ts'
import { A2AError } from '../../model/error.ts'
import { taskBytes } from '../../model/json-nodes.ts'
import type { SendMessageRequest } from '../../model/operation.ts'
import { hasSettled, isTerminal, type TaskState } from '../../model/state.ts'
import type { Message, StreamEvent, Task, TaskStatus } from '../../model/task.ts'
import type { Store } from '../../stores/store.ts'
import { nextOf, type Pollable } from '../../model/pollable.ts'
import type { AgentEntry, CallContext, TaskEventStream, StreamItem } from '../contract.ts'
import type { AcceptedMessage } from '../message/accept-message.ts'
import { emptyFold, foldRecord, type LogEvent, type TaskFold, taskView, traceAt, withHistory } from './fold.ts'
import type { LoadedTask } from './loaded-task.ts'
import type { LogPages } from './log-pages.ts'

/** The limit of one read. */
const maxRead = 1_000
const maxReadBytes = 1_000_000

export type TaskStreams = ReturnType<typeof createTaskStreams>

export function createTaskStreams(store: Store, pages: LogPages) {
  const snapshots = new WeakMap<Task, StreamEvent>()

  return { ofMessage, resume, fromSnapshot }

  /** The stream in response to a message. */
  async function ofMessage(
    accepted: Exclude<AcceptedMessage, { reply: Message }>,
    { message, configuration }: SendMessageRequest,
    context: CallContext,
    entry: AgentEntry,
  ): Promise<TaskEventStream> {
    const { loaded, submittedSeq, repeated } = accepted
    const historyLength = configuration?.historyLength
    if (repeated === true) {
      const resumed = await resume(loaded, context, entry)
      if (resumed === undefined) return replay(loaded, entry, message.messageId, historyLength)
      // A reader that has seen the question has seen everything that this stream would send.
      const hasAll =
        (context.lastEventId ?? -1) >= loaded.fold.statusSeq && isSettled(loaded) && endsAtStatus(loaded, entry)
      return hasAll ? emptyStream() : resumed
    }
    if (submittedSeq === undefined) {
      return fromSnapshot(loaded, entry, isSettled(loaded) && endsAtStatus(loaded, entry), historyLength)
    }
    return from(loaded, entry, taskAtSubmission(loaded, submittedSeq), submittedSeq, historyLength)
  }

  /**
   * All events of the first stream of the message, and all since (B-163). If the log was pruned: the current task, marked as a gap.
   */
  async function replay(
    loaded: LoadedTask,
    entry: AgentEntry,
    messageId: string,
    historyLength: number | undefined,
  ): Promise<TaskEventStream> {
    const then = await foldUpTo(loaded, messageId, entry.options.coalesceText)
    if (then === undefined) {
      return fromSnapshot(loaded, entry, isSettled(loaded) && endsAtStatus(loaded, entry), historyLength, true)
    }
    return from(loaded, entry, taskView(then), then.head, historyLength)
  }

  /** The task at the time of the message; `undefined` if the log no longer reaches back so far. */
  async function foldUpTo(loaded: LoadedTask, messageId: string, coalesceText: boolean): Promise<TaskFold | undefined> {
    const { id, contextId, status, metadata, head } = loaded.fold
    const into = emptyFold(id, contextId, status, metadata)
    let isFound = false
    while (into.head < head) {
      const records = await store.tasks.read(id, into.head, maxRead, maxReadBytes)
      if (records.length === 0) return undefined
      for (const record of records) {
        if (record.seq !== into.head + 1) return undefined
        foldRecord(into, record, coalesceText)
        const { body } = record
        isFound ||= body.type === 'message' && body.message.messageId === messageId
        // The first message precedes the first status of the task.
        if (isFound && into.statusSeq > 0) return into
      }
    }
    return undefined
  }

  function from(
    loaded: LoadedTask,
    entry: AgentEntry,
    task: Task,
    seq: number,
    historyLength: number | undefined,
  ): TaskEventStream {
    const event = { task: withHistory(task, historyLength) }
    const first: StreamItem = {
      event,
      seq,
      final: false,
      traceparent: traceAt(loaded.fold, seq),
      bytes: taskBytes(task),
    }
    return followLog(loaded, pages, { afterSeq: seq, first, isEnd: endsStreamAt(entry) })
  }

  /** The events after the reader's cursor, if it has one; a snapshot marked as a gap if the log no longer reaches back. */
  async function resume(
    loaded: LoadedTask,
    { lastEventId }: CallContext,
    entry: AgentEntry,
  ): Promise<TaskEventStream | undefined> {
    if (lastEventId === undefined || lastEventId > loaded.fold.head) return undefined
    const firstSeq = await store.tasks.firstSeq(loaded.id)
    if (firstSeq <= lastEventId + 1)
      return followLog(loaded, pages, { afterSeq: lastEventId, isEnd: endsStreamAt(entry) })
    return fromSnapshot(loaded, entry, isTerminal(loaded.fold.status.state), undefined, true)
  }

  /** The snapshot and the log position are read together: no event is missed or repeated (B-105). */
  function fromSnapshot(
    loaded: LoadedTask,
    entry: AgentEntry,
    final: boolean,
    historyLength: number | undefined,
    gap?: true,
  ): TaskEventStream {
    const seq = loaded.fold.head
    const event = snapshotEvent(taskView(loaded.fold), historyLength)
    const traceparent = traceAt(loaded.fold, seq)
    const { bytes } = loaded.fold
    const first: StreamItem = { event, seq, final, traceparent, bytes, ...(gap !== undefined ? { gap } : {}) }
    return followLog(loaded, pages, { afterSeq: seq, first, isEnd: endsStreamAt(entry) })
  }

  /** The same object for all readers of the same view: encodings are cached by it. */
  function snapshotEvent(view: Task, historyLength?: number): StreamEvent {
    const task = withHistory(view, historyLength)
    let event = snapshots.get(task)
    if (event === undefined) snapshots.set(task, (event = { task }))
    return event
  }
}

/** The task at its opening: where its first stream begins. */
function taskAtSubmission(loaded: LoadedTask, seq: number): Task {
  const { id, contextId, history, metadata } = loaded.fold
  const opened = loaded.tail.find((event: LogEvent) => event.seq === seq)
  // A first batch of megabytes may have pushed it out of the tail; its content is known anyway.
  const status: TaskStatus =
    opened !== undefined && 'statusUpdate' in opened.event
      ? opened.event.statusUpdate.status
      : { state: 'TASK_STATE_SUBMITTED' }
  return { id, contextId, status, history: history.slice(0, 1), ...(metadata !== undefined ? { metadata } : {}) }
}

/** Nothing runs and nothing waits to run: what a blocking send waits for (B-63). */
export function isSettled(loaded: LoadedTask): boolean {
  const { state } = loaded.fold.status
  return isTerminal(state) || (hasSettled(state) && loaded.fold.waiting.length === 0)
}

function endsAtStatus({ fold: { status } }: LoadedTask, entry: AgentEntry): boolean {
  return isTerminal(status.state) || endsStreamAt(entry)(status.state)
}

async function* emptyStream(): TaskEventStream & AsyncGenerator<readonly StreamItem[]> {}

// The log from a position on.

interface FollowOptions {
  /** Events after this seq. */
  readonly afterSeq: number
  /** Sent before anything else: a snapshot. */
  readonly first?: StreamItem
  /** Whether a status ends this stream; terminal states always do. */
  isEnd(state: TaskState): boolean
}

type ReadResult = IteratorResult<readonly StreamItem[], undefined>
type Outcome<T> = { readonly result: IteratorResult<T, undefined> } | { readonly reason: unknown }

export function followLog(loaded: LoadedTask, pages: LogPages, options: FollowOptions): TaskEventStream {
  // A question answered before this stream began does not end it (B-91).
  const { statusSeq } = loaded.fold
  return { [Symbol.asyncIterator]: () => new LogReader(loaded, pages, options, statusSeq) }
}

/** B-91, B-92: a question ends the stream, a request for credentials does not. */
function endsStreamAt(entry: AgentEntry): (state: TaskState) => boolean {
  return entry.options.keepOpenOnInputRequired ? never : isQuestion
}

function isQuestion(state: TaskState): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED'
}

function never(): boolean {
  return false
}

/** The agent with the options of one call: a call may request a stream that stays open at a question. */
export function withStreamOptions({ keepOpenOnInputRequired }: CallContext, entry: AgentEntry): AgentEntry {
  return keepOpenOnInputRequired === true ? { ...entry, options: { ...entry.options, keepOpenOnInputRequired } } : entry
}

/** Readers that wait and whose log has grown. */
let wokenReaders: LogReader[] = []

/** All in one microtask, after the append has been completed: their consumers write to sockets, which takes long for a thousand. */
function wakeReaders(): void {
  const woken = wokenReaders
  wokenReaders = []
  for (const reader of woken) {
    try {
      reader.wake()
    } catch (reason) {
      // Reported like any uncaught error, but after the others: a reader that is not called here would never be called again.
      queueMicrotask(() => {
        throw reason
      })
    }
  }
}

/** A class, not closures: 9.5 instead of 12.5 kB of heap per idle subscriber. */
class LogReader implements Pollable<readonly StreamItem[]>, AsyncIterator<readonly StreamItem[], undefined> {
  readonly #loaded: LoadedTask
  readonly #pages: LogPages
  readonly #isEnd: FollowOptions['isEnd']
  /** Where the status was when the stream began. */
  readonly #statusSeq: number
  readonly #listener = (): void => this.#logHasGrown()
  #cursor: number
  #first: StreamItem | undefined
  #ended: boolean
  #closed = false
  /** Called when there is a result; set while a reader waits. */
  #ready: (() => void) | undefined
  #isWoken = false
  #isReadingStore = false
  #hasSeenFailure = false
  /** A result that nothing has taken yet. */
  #outcome: Outcome<readonly StreamItem[]> | undefined
  #lastNext: Promise<ReadResult> | undefined

  constructor(loaded: LoadedTask, pages: LogPages, { afterSeq, first, isEnd }: FollowOptions, statusSeq: number) {
    this.#loaded = loaded
    this.#pages = pages
    this.#isEnd = isEnd
    this.#statusSeq = statusSeq
    this.#cursor = afterSeq
    this.#first = first
    this.#ended = first?.final ?? false
    loaded.listeners.add(this.#listener)
  }

  poll(ready: () => void): ReadResult | undefined {
    const first = this.#first
    if (first !== undefined) {
      this.#first = undefined
      return { done: false, value: [first] }
    }
    const outcome = this.#outcome ?? this.#look()
    this.#outcome = undefined
    if (outcome === undefined) {
      this.#ready = ready
      return undefined
    }
    if ('result' in outcome) return outcome.result
    // Consumers do not call return() on a failed reader, and a task with listeners stays in memory.
    this.#close()
    throw outcome.reason
  }

  next(): Promise<ReadResult> {
    // Concurrent calls of next() get their results in order.
    const before = this.#lastNext
    const asked = before === undefined ? nextOf(this) : before.then(() => nextOf(this))
    const settled = (): void => {
      if (this.#lastNext === asked) this.#lastNext = undefined
    }
    this.#lastNext = asked
    asked.then(settled, settled)
    return asked
  }

  return(): Promise<ReadResult> {
    return Promise.resolve(this.#close())
  }

  close(): void {
    this.#close()
  }

  /** Called with every append: a thousand readers may wait. */
  #logHasGrown(): void {
    if (this.#ready === undefined || this.#isWoken) return
    this.#isWoken = true
    if (wokenReaders.length === 0) queueMicrotask(wakeReaders)
    wokenReaders.push(this)
  }

  /** Calls a waiting reader, if there is a result. */
  wake(): void {
    this.#isWoken = false
    const ready = this.#ready
    if (ready === undefined) return
    // Before it looks, because closing calls this, too.
    this.#ready = undefined
    this.#outcome ??= this.#look()
    if (this.#outcome === undefined) this.#ready = ready
    else ready()
  }

  /** Returns `undefined` if there is no new event yet. */
  #look(): Outcome<readonly StreamItem[]> | undefined {
    const loaded = this.#loaded
    if (this.#closed || this.#ended) return { result: this.#close() }
    if (this.#isReadingStore) return undefined
    if (this.#cursor < loaded.tailFrom) {
      this.#isReadingStore = true
      void this.#fromStore()
      return undefined
    }
    const batch = this.#take(loaded.tailAfter(this.#cursor))
    if (batch.length > 0) return { result: { done: false, value: batch } }
    // No visible event follows the terminal status.
    if (isTerminal(loaded.fold.status.state) && this.#cursor >= loaded.fold.statusSeq) return { result: this.#close() }
    if (loaded.failure === undefined) return undefined
    // This process can no longer follow the task, but events read before the failure are still sent.
    if (this.#hasSeenFailure) return { reason: streamInterrupted(loaded.failure) }
    this.#hasSeenFailure = true
    queueMicrotask(() => this.wake())
    return undefined
  }

  #take(events: readonly LogEvent[]): readonly StreamItem[] {
    for (let index = 0; index < events.length; index += 1) {
      const item = events[index] as LogEvent
      const { seq, event } = item
      this.#cursor = seq
      if (!('statusUpdate' in event) || !this.#ends(event.statusUpdate.status.state, seq)) continue
      this.#ended = true
      return [...events.slice(0, index), { ...item, final: true }]
    }
    return events
  }

  #ends(state: TaskState, seq: number): boolean {
    return isTerminal(state) || (seq >= this.#statusSeq && this.#isEnd(state))
  }

  async #fromStore(): Promise<void> {
    try {
      while (this.#cursor < this.#loaded.tailFrom && !this.#closed) {
        const batch = this.#take(await this.#readStore())
        if (batch.length === 0) continue
        this.#outcome = { result: { done: false, value: batch } }
        break
      }
    } catch (reason) {
      this.#outcome = { reason }
    }
    this.#isReadingStore = false
    this.wake()
  }

  async #readStore(): Promise<readonly LogEvent[]> {
    const loaded = this.#loaded
    const { events, lastSeq } = await this.#pages.after(loaded, this.#cursor)
    // The log was pruned under a slow reader, which must not assume that it is complete. It resumes, and gets the gap marker.
    if (lastSeq === undefined && this.#cursor < loaded.tailFrom)
      throw streamInterrupted(new Error('the log was dropped'))
    // A page of only internal records brings nothing to send, but the reader has passed it.
    if (events.length === 0) this.#cursor = lastSeq ?? this.#cursor
    return events
  }

  #close(): IteratorReturnResult<undefined> {
    if (!this.#closed) {
      this.#closed = true
      this.#loaded.listeners.delete(this.#listener)
      this.#loaded.releaseTail()
      this.#outcome = undefined
      this.wake()
    }
    return { done: true, value: undefined }
  }
}

function streamInterrupted(cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The stream was interrupted; resume it', {}, { cause })
}

/**
 * Resolves with true once the condition holds, with false after `waitMs`. It does not notice a caller that disconnects: the wait
 * ends with the turn at the latest, and costs a closure.
 */
export function waitUntil(loaded: LoadedTask, holds: () => boolean, waitMs: number): Promise<boolean> {
  if (holds()) return Promise.resolve(true)
  if (loaded.failure !== undefined) return Promise.reject(streamInterrupted(loaded.failure))
  return new Promise((resolve, reject) => {
    const cancelTimer = startTimer(waitMs, () => finish(false))
    const listener = (): void => {
      if (holds()) finish(true)
      else if (loaded.failure !== undefined) finish(undefined)
    }
    loaded.listeners.add(listener)
    function finish(result: boolean | undefined): void {
      cancelTimer()
      loaded.listeners.delete(listener)
      if (result === undefined) reject(streamInterrupted(loaded.failure))
      else resolve(result)
    }
  })
}
