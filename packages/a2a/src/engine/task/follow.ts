/**
 * Reads a log from a position and continues as it grows: the one way in which streams, subscriptions and resumed streams get their
 * events. A reader is a cursor: nothing is queued for it, so a slow reader costs the others nothing. It reads the newest events
 * from memory, shared with all other readers, and older ones from the store.
 */
import { startTimer } from '../../model/clock.ts'
import { A2AError } from '../../model/error.ts'
import { isTerminal, type TaskState } from '../../model/state.ts'
import { nextOf, type Pollable } from '../../model/pollable.ts'
import type { AgentEntry, CallContext, TaskEventStream, StreamItem } from '../contract.ts'
import type { LogEvent } from './log-events.ts'
import type { LoadedTask } from './loaded-task.ts'
import type { LogPages } from './log-pages.ts'

export interface FollowOptions {
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
export function endsStreamAt(entry: AgentEntry): (state: TaskState) => boolean {
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

/** A class: with this, `SseChunks` and the response of the Node adapter as classes, an idle subscriber took 9.5 kB of heap, not 12.5. */
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
