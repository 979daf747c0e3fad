/**
 * The events of a stream in the forms that callers want: as they are, as text, as states, or what they add up to.
 * Nothing happens before somebody reads, and it is read once. To stop reading closes the connection at once, also
 * while an event is awaited; it cancels nothing at the peer (B-103).
 */
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/linked-signal.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, StreamEvent, Task } from '../model/task.ts'
import { answerOf, textOfAnswer } from './answer.ts'
import type { Answer, EventStream, Gathered, WireEvent } from './contract.ts'
import type * as reader from './reading.ts'
import type { Reduction } from './reduce.ts'

type Reading = typeof reader

/** Begins to read. The signal aborts with the caller's, or when the reader leaves. */
export type OpenEvents = (signal: AbortSignal) => AsyncIterable<WireEvent>
/** The whole task, for a stream that begins in its middle. */
export type LoadTask = (taskId: string) => Promise<Task>

export function createEventStream(open: OpenEvents, signal?: AbortSignal, load?: LoadTask): EventStream {
  const leaving = new AbortController()
  /** From when somebody reads. */
  let sum: Reduction | undefined
  const related = new Set<string>()
  let isTaken = false
  let isOver = false
  let failure: Error | undefined
  let answer: Answer | undefined
  let lastEventId: string | undefined

  /** Every way to read goes through here. */
  async function* read<T>(
    each: (frame: WireEvent, text: string, reading: Reading) => T | undefined,
    last?: (answer: Answer | undefined) => T | undefined,
  ): AsyncGenerator<T, void, undefined> {
    if (isTaken)
      throw new A2AError('INVALID_REQUEST', 'A stream is read once: keep what you need of it, or open another')
    isTaken = true
    const reading = await import('./reading.ts')
    const told = (sum = reading.emptyReduction())
    const either = linkSignals([signal, leaving.signal])
    try {
      for await (const frame of open(either.signal)) {
        lastEventId = frame.id ?? lastEventId
        for (const message of messagesIn(frame.event)) {
          for (const id of message?.referenceTaskIds ?? []) related.add(id)
        }
        const item = each(frame, reading.reduce(told, frame.event), reading)
        if (item !== undefined) yield item
      }
      answer = reading.answerFrom(told)
      isOver = true
    } catch (reason) {
      // Whoever left does not want to hear that the connection is closed.
      if (!leaving.signal.aborted) throw (failure = reason as Error)
    } finally {
      either.end()
    }
    const item = isOver ? last?.(answer) : undefined
    if (item !== undefined) yield item
  }

  function closing<T>(items: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
    // A generator that waits takes no `return()` before what it waits for has come.
    const end = items.return.bind(items)
    items.return = (value) => {
      leaving.abort()
      return end(value)
    }
    return items
  }

  /** What has been read to its end can be asked what it came to; what nobody reads is read for that. */
  async function drain(): Promise<void> {
    if (failure) throw failure
    if (!isOver) for await (const _ of read(() => undefined));
  }

  async function result(): Promise<Answer> {
    await drain()
    if (load !== undefined && sum?.taskId !== undefined) return answerOf({ task: await load(sum.taskId) })
    if (answer === undefined) throw new A2AError('INTERRUPTED', 'The stream ended without an answer')
    return answer
  }

  const frames = (): AsyncGenerator<WireEvent, void, undefined> => closing(read((frame) => frame))
  const events = (): AsyncGenerator<StreamEvent, void, undefined> => closing(read(({ event }) => event))

  function texts(): AsyncGenerator<string, void, undefined> {
    let hasSpoken = false
    const say = (text: string): string | undefined => {
      hasSpoken ||= text !== ''
      return text === '' ? undefined : text
    }
    return closing(
      read(
        (_, text) => say(text),
        // Throws where the task came to no good end. A stream from the middle does not know what was said before.
        (whole) => {
          const text = whole === undefined ? '' : textOfAnswer(whole)
          return hasSpoken || load !== undefined ? undefined : say(text)
        },
      ),
    )
  }

  function states(): AsyncGenerator<TaskState, void, undefined> {
    let before: TaskState | undefined
    return closing(
      read(({ event }, _, { stateIn }) => {
        const state = stateIn(event)
        if (state === undefined || state === before) return undefined
        before = state
        return state
      }),
    )
  }

  const stream: EventStream = {
    [Symbol.asyncIterator]: events,
    text: () => gathered(texts, async () => textOfAnswer(await result())),
    states: () => gathered(states, () => Array.fromAsync(states())),
    all: () => Array.fromAsync(events()),
    async artifacts() {
      const answer = await result()
      return answer.kind === 'task' ? [...(answer.artifacts ?? [])] : []
    },
    result,
    frames,
    get taskId() {
      return sum?.taskId
    },
    get contextId() {
      return sum?.contextId
    },
    get lastEventId() {
      return lastEventId
    },
    relatedTaskIds: related,
  }
  return Object.assign(stream, observable(events))
}

function messagesIn(event: StreamEvent): readonly (Message | undefined)[] {
  if ('message' in event) return [event.message]
  if ('task' in event) return [...(event.task.history ?? []), event.task.status.message]
  return 'statusUpdate' in event ? [event.statusUpdate.status.message] : []
}

function gathered<Each, All>(
  iterate: () => AsyncGenerator<Each, void, undefined>,
  gather: () => Promise<All>,
): Gathered<Each, All> {
  let all: Promise<All> | undefined
  return {
    [Symbol.asyncIterator]: iterate,
    then: (fulfilled, rejected) => (all ??= gather()).then(fulfilled, rejected),
    ...observable(iterate),
  }
}

interface Observer<T> {
  next?(value: T): void
  error?(reason: unknown): void
  complete?(): void
}

/** `rxjs.from()` would take a thenable for a promise, and would not let go of an iterable while it waits for it. */
function observable<T>(iterate: () => AsyncGenerator<T, void, undefined>): object {
  const subscribe = (observer: Observer<T>): object => {
    const items = iterate()
    let isOpen = true
    void (async () => {
      try {
        for await (const item of items) observer.next?.(item)
        if (isOpen) observer.complete?.()
      } catch (reason) {
        if (isOpen) observer.error?.(reason)
      }
    })()
    return {
      unsubscribe() {
        isOpen = false
        void items.return()
      },
    }
  }
  const key = (Symbol as { readonly observable?: symbol }).observable ?? '@@observable'
  return { [key]: () => ({ subscribe }) }
}
