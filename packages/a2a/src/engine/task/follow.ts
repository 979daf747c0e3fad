/**
 * Reads a log from a position and continues as it grows: the one way in which streams, subscriptions and resumed streams get their
 * events. A reader is a cursor: nothing is queued for it, so a slow reader costs the others nothing. It reads the newest events
 * from memory, shared with all other readers, and older ones from the store.
 */
import { A2AError } from '../../model/error.ts'
import { isTerminal, type TaskState } from '../../model/state.ts'
import type { AgentEntry, CallContext, TaskEventStream, StreamItem } from '../contract.ts'
import { setSharedTimeout } from '../shared-timers.ts'
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

export function followLog(loaded: LoadedTask, pages: LogPages, options: FollowOptions): TaskEventStream {
  // A question answered before this stream began does not end it (B-91).
  const { statusSeq } = loaded.fold
  const ends = (state: TaskState, seq: number): boolean =>
    isTerminal(state) || (seq >= statusSeq && options.isEnd(state))
  return { [Symbol.asyncIterator]: () => createReader(loaded, pages, options, ends) }
}

/** B-91, B-92: a question ends the stream, a request for credentials does not. */
export function endsStreamAt(entry: AgentEntry): (state: TaskState) => boolean {
  return (state) => state === 'TASK_STATE_INPUT_REQUIRED' && !entry.options.keepOpenOnInputRequired
}

/** The agent with the options of one call: a call may request a stream that stays open at a question. */
export function withStreamOptions({ keepOpenOnInputRequired }: CallContext, entry: AgentEntry): AgentEntry {
  return keepOpenOnInputRequired === true ? { ...entry, options: { ...entry.options, keepOpenOnInputRequired } } : entry
}

function createReader(
  loaded: LoadedTask,
  pages: LogPages,
  options: FollowOptions,
  ends: (state: TaskState, seq: number) => boolean,
): AsyncIterator<readonly StreamItem[], undefined> {
  let cursor = options.afterSeq
  let first = options.first
  let ended = first?.final ?? false
  let closed = false
  let waiting: PromiseWithResolvers<ReadResult> | undefined
  loaded.listeners.add(checkForEvents)

  return { next, return: () => Promise.resolve(close()) }

  function next(): Promise<ReadResult> {
    if (first !== undefined) {
      const item = first
      first = undefined
      return Promise.resolve({ done: false, value: [item] })
    }
    // Concurrent calls of next() get their results in order.
    if (waiting !== undefined) return nextAfter(waiting.promise)
    waiting = Promise.withResolvers<ReadResult>()
    const { promise } = waiting
    checkForEvents()
    return promise
  }

  async function nextAfter(first: Promise<ReadResult>): Promise<ReadResult> {
    await first
    return next()
  }

  /** Resolves a waiting read, if there is a result. Called with every append: a thousand readers may wait. */
  function checkForEvents(): void {
    const asked = waiting
    if (asked === undefined) return
    // Before anything is resolved, because closing reads this too.
    waiting = undefined
    const isBehind = cursor < loaded.tailFrom && !closed && !ended
    const result = isBehind ? fromStore() : fromMemory()
    if (result !== undefined) asked.resolve(result)
    else if (loaded.failure !== undefined) asked.resolve(breakOff())
    else waiting = asked
  }

  /** Returns `undefined` if there is no new event yet. */
  function fromMemory(): ReadResult | undefined {
    if (closed || ended) return close()
    const batch = take(loaded.tailAfter(cursor))
    if (batch.length > 0) return { done: false, value: batch }
    // No visible event follows the terminal status.
    if (isTerminal(loaded.fold.status.state) && cursor >= loaded.fold.statusSeq) return close()
    return undefined
  }

  /** This process can no longer follow the task, but events read before the failure are still sent. */
  async function breakOff(): Promise<ReadResult> {
    await Promise.resolve()
    const result = fromMemory()
    if (result !== undefined) return result
    close()
    throw streamInterrupted(loaded.failure)
  }

  function take(events: readonly LogEvent[]): readonly StreamItem[] {
    for (let index = 0; index < events.length; index += 1) {
      const item = events[index] as LogEvent
      const { seq, event } = item
      cursor = seq
      if (!('statusUpdate' in event) || !ends(event.statusUpdate.status.state, seq)) continue
      ended = true
      return [...events.slice(0, index), { ...item, final: true }]
    }
    return events
  }

  async function fromStore(): Promise<ReadResult> {
    try {
      while (cursor < loaded.tailFrom && !closed) {
        const batch = take(await readStore())
        if (batch.length > 0) return { done: false, value: batch }
      }
    } catch (reason) {
      // Consumers do not call return() on a failed reader, and a task with listeners stays in memory.
      close()
      throw reason
    }
    return next()
  }

  async function readStore(): Promise<readonly LogEvent[]> {
    const { events, lastSeq } = await pages.after(loaded, cursor)
    // The log was pruned under a slow reader, which must not assume that it is complete. It resumes, and gets the gap marker.
    if (lastSeq === undefined && cursor < loaded.tailFrom) throw streamInterrupted(new Error('the log was dropped'))
    // A page of only internal records brings nothing to send, but the reader has passed it.
    if (events.length === 0) cursor = lastSeq ?? cursor
    return events
  }

  function close(): IteratorReturnResult<undefined> {
    if (!closed) {
      closed = true
      loaded.listeners.delete(checkForEvents)
      checkForEvents()
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
    const timer = Number.isFinite(waitMs) ? setSharedTimeout(waitMs, () => finish(false)) : undefined
    const listener = (): void => {
      if (holds()) finish(true)
      else if (loaded.failure !== undefined) finish(undefined)
    }
    loaded.listeners.add(listener)
    function finish(result: boolean | undefined): void {
      timer?.cancel()
      loaded.listeners.delete(listener)
      if (result === undefined) reject(streamInterrupted(loaded.failure))
      else resolve(result)
    }
  })
}
