/**
 * Reading a log from a place and going on as it grows: the one way in which streams,
 * subscriptions and resumed streams get their events. A reader is a cursor: nothing is
 * queued for it, so a slow one costs nobody anything. It reads the newest events from
 * memory, shared with all other readers, and older ones from the store.
 */
import { A2AError } from '../model/error.ts'
import { isTerminal } from '../model/state.ts'
import type { TaskState } from '../model/state.ts'
import type { AgentEntry, CallContext, EventStream, StreamItem } from './contract.ts'
import { later } from './later.ts'
import type { TailEvent } from './event-of.ts'
import type { Live } from './live.ts'
import type { LogPages } from './log-pages.ts'

export interface FollowOptions {
  /** Events after this seq. */
  readonly afterSeq: number
  /** Sent before anything else: a snapshot. */
  readonly first?: StreamItem
  /** Whether a status ends this stream; terminal ones always do. */
  endsAt(state: TaskState): boolean
}

type Result = IteratorResult<readonly StreamItem[], undefined>

export function follow(live: Live, pages: LogPages, options: FollowOptions): EventStream {
  // A question that was answered before this stream began is history, and does not end it (B-91).
  const { statusSeq } = live.fold
  const ends = (state: TaskState, seq: number): boolean =>
    isTerminal(state) || (seq >= statusSeq && options.endsAt(state))
  return { [Symbol.asyncIterator]: () => createReader(live, pages, options, ends) }
}

/** B-91, B-92: a question ends the stream, a request for credentials does not. */
export function endsAt(entry: AgentEntry): (state: TaskState) => boolean {
  return (state) => state === 'TASK_STATE_INPUT_REQUIRED' && !entry.options.keepOpenOnInputRequired
}

/** The agent with the options of one call's stream: a call may ask for a stream that stays open at a question. */
export function withStreamOptions({ keepOpenOnInputRequired }: CallContext, entry: AgentEntry): AgentEntry {
  return keepOpenOnInputRequired === true ? { ...entry, options: { ...entry.options, keepOpenOnInputRequired } } : entry
}

function createReader(
  live: Live,
  pages: LogPages,
  options: FollowOptions,
  ends: (state: TaskState, seq: number) => boolean,
): AsyncIterator<readonly StreamItem[], undefined> {
  let cursor = options.afterSeq
  let first = options.first
  let ended = first?.final ?? false
  let closed = false
  let waiting: PromiseWithResolvers<Result> | undefined
  live.listeners.add(look)

  return { next, return: () => Promise.resolve(close()) }

  function next(): Promise<Result> {
    if (first !== undefined) {
      const item = first
      first = undefined
      return Promise.resolve({ done: false, value: [item] })
    }
    // Who asks twice gets the second answer after the first.
    if (waiting !== undefined) return nextAfter(waiting.promise)
    waiting = Promise.withResolvers<Result>()
    const { promise } = waiting
    look()
    return promise
  }

  async function nextAfter(first: Promise<Result>): Promise<Result> {
    await first
    return next()
  }

  /** Answers whoever waits, if there is an answer. Called with every append: a thousand readers may wait for it. */
  function look(): void {
    const asked = waiting
    if (asked === undefined) return
    // Before anything is answered, because closing looks here too.
    waiting = undefined
    const isBehind = cursor < live.tailFrom && !closed && !ended
    const result = isBehind ? fromStore() : fromMemory()
    if (result !== undefined) asked.resolve(result)
    else if (live.broken !== undefined) asked.resolve(breakOff())
    else waiting = asked
  }

  /** Nothing if there is nothing yet. */
  function fromMemory(): Result | undefined {
    if (closed || ended) return close()
    const batch = take(live.tailAfter(cursor))
    if (batch.length > 0) return { done: false, value: batch }
    // Nothing visible comes after the status that ended it.
    if (isTerminal(live.fold.status.state) && cursor >= live.fold.statusSeq) return close()
    return undefined
  }

  /** The task can no longer be followed from here, but what was read as it broke is still told. */
  async function breakOff(): Promise<Result> {
    await Promise.resolve()
    const result = fromMemory()
    if (result !== undefined) return result
    close()
    throw interrupted(live.broken)
  }

  function take(events: readonly TailEvent[]): readonly StreamItem[] {
    for (let index = 0; index < events.length; index += 1) {
      const item = events[index] as TailEvent
      const { seq, event } = item
      cursor = seq
      if (!('statusUpdate' in event) || !ends(event.statusUpdate.status.state, seq)) continue
      ended = true
      return [...events.slice(0, index), { ...item, final: true }]
    }
    return events
  }

  async function fromStore(): Promise<Result> {
    try {
      while (cursor < live.tailFrom && !closed) {
        const batch = take(await readStore())
        if (batch.length > 0) return { done: false, value: batch }
      }
    } catch (reason) {
      // Nobody returns a reader that has failed, and a task that is listened to stays in memory.
      close()
      throw reason
    }
    return next()
  }

  async function readStore(): Promise<readonly TailEvent[]> {
    const { events, lastSeq } = await pages.after(live, cursor)
    // The log was dropped under a slow reader: it must not believe that it has seen all. It resumes, and is told of the gap.
    if (lastSeq === undefined && cursor < live.tailFrom) throw interrupted(new Error('the log was dropped'))
    // A stretch of internal records brings nothing to send, but the reader has passed it.
    if (events.length === 0) cursor = lastSeq ?? cursor
    return events
  }

  function close(): IteratorReturnResult<undefined> {
    if (!closed) {
      closed = true
      live.listeners.delete(look)
      look()
    }
    return { done: true, value: undefined }
  }
}

function interrupted(cause: unknown): A2AError {
  return new A2AError('UNAVAILABLE', 'The stream was interrupted; resume it', {}, { cause })
}

/**
 * Resolves with true once the condition holds, with false after `waitMs`. A caller who goes away
 * meanwhile is not noticed here: the wait ends with the turn at the latest, and costs a closure.
 */
export function until(live: Live, holds: () => boolean, waitMs: number): Promise<boolean> {
  if (holds()) return Promise.resolve(true)
  if (live.broken !== undefined) return Promise.reject(interrupted(live.broken))
  return new Promise((resolve, reject) => {
    const timer = Number.isFinite(waitMs) ? later(waitMs, () => finish(false)) : undefined
    const listener = (): void => {
      if (holds()) finish(true)
      else if (live.broken !== undefined) finish(undefined)
    }
    live.listeners.add(listener)
    function finish(result: boolean | undefined): void {
      timer?.cancel()
      live.listeners.delete(listener)
      if (result === undefined) reject(interrupted(live.broken))
      else resolve(result)
    }
  })
}
