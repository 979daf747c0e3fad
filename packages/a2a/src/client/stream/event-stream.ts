/**
 * The events of a stream in several forms: as they are, as text, as states, or as the final result. No request is sent before
 * the stream is read, and it can be read once. Stopping to read closes the connection at once, even while an event is awaited;
 * it cancels nothing at the peer (B-103).
 */
import { A2AError } from '../../model/error.ts'
import { linkSignals, type LinkedSignal } from '../../model/signals.ts'
import type { TaskState } from '../../model/state.ts'
import type { Message, StreamEvent, Task } from '../../model/task.ts'
import { toAgentResponse, requireCompletedText } from '../agent-response.ts'
import type { AgentResponse, EventStream, AwaitableStream, EventFrame } from '../contract.ts'
import type * as reader from './stream-runtime.ts'
import type { StreamState } from './stream-state.ts'

type StreamRuntime = typeof reader
/** Loaded with the first stream. Node takes 30 µs for an `import()`, also of a module that is loaded. */
let runtime: StreamRuntime | undefined

/** Starts reading. The signal aborts with the caller's signal, or when the reader stops. */
export type OpenEvents = (signal: AbortSignal, runtime: StreamRuntime) => AsyncIterable<EventFrame>
/** Fetches the whole task, for a stream that begins in its middle. */
export type LoadTask = (taskId: string) => Promise<Task>

export function createEventStream(open: OpenEvents, signal?: AbortSignal, load?: LoadTask): EventStream {
  /** Aborts the requests; set when reading begins. */
  let linked: LinkedSignal | undefined
  let hasReaderLeft = false
  /** Set when reading begins. */
  let currentState: StreamState | undefined
  const related = new Set<string>()
  let isConsumed = false
  let isEnded = false
  let failure: Error | undefined
  let answer: AgentResponse | undefined
  let lastEventId: string | undefined
  /** The next event is awaited. */
  let isWaiting = false

  /** All forms of reading use this function. */
  function read<T>(...how: Parameters<typeof generate<T>>): AsyncGenerator<T, void, undefined> {
    const items = generate(...how)
    // A suspended generator handles `return()` only after its pending await has settled.
    const end = items.return.bind(items)
    items.return = (value) => {
      hasReaderLeft = true
      // One that is suspended at an event closes the connection itself.
      if (isWaiting) linked?.abort(runtime?.readerLeft)
      return end(value)
    }
    return items
  }

  async function* generate<T>(
    each: (frame: EventFrame, text: string, reading: StreamRuntime) => T | undefined,
    last?: (answer: AgentResponse | undefined) => T | undefined,
  ): AsyncGenerator<T, void, undefined> {
    if (isConsumed) throw new A2AError('INVALID_REQUEST', 'A stream is read only once: open another')
    isConsumed = isWaiting = true
    linked = linkSignals([signal])
    try {
      const reading = (runtime ??= await import('./stream-runtime.ts'))
      const streamState = (currentState = reading.createStreamState())
      for await (const frame of open(linked.signal, reading)) {
        lastEventId = frame.id ?? lastEventId
        for (const message of messagesIn(frame.event)) {
          for (const id of message?.referenceTaskIds ?? []) related.add(id)
        }
        const item = each(frame, reading.applyFrame(streamState, frame), reading)
        if (item === undefined) continue
        isWaiting = false
        yield item
        isWaiting = true
      }
      answer = reading.responseFrom(streamState)
      isEnded = true
    } catch (reason) {
      // A reader that stopped gets no error about the closed connection.
      if (!hasReaderLeft) throw (failure = reason as Error)
    } finally {
      linked.end()
    }
    const item = isEnded ? last?.(answer) : undefined
    if (item !== undefined) yield item
  }

  /** Reads the stream to its end if it has not been read, so that the result is known. */
  async function drain(): Promise<void> {
    if (failure) throw failure
    if (!isEnded) for await (const _ of read(() => undefined));
  }

  async function result(): Promise<AgentResponse> {
    await drain()
    if (load !== undefined && currentState?.taskId !== undefined)
      return toAgentResponse({ task: await load(currentState.taskId) })
    if (answer === undefined) throw new A2AError('INTERRUPTED', 'The stream ended without a result')
    return answer
  }

  const frames = (): AsyncGenerator<EventFrame, void, undefined> => read((frame) => frame)
  const events = (): AsyncGenerator<StreamEvent, void, undefined> => read(({ event }) => event)

  function texts(): AsyncGenerator<string, void, undefined> {
    let hasText = false
    const nonEmpty = (text: string): string | undefined => {
      hasText ||= text !== ''
      return text === '' ? undefined : text
    }
    return read(
      (_, text) => nonEmpty(text),
      // Throws if the task did not succeed. A stream from the middle does not have the earlier content.
      (whole) => {
        const text = whole === undefined ? '' : requireCompletedText(whole)
        return hasText || load !== undefined ? undefined : nonEmpty(text)
      },
    )
  }

  function states(): AsyncGenerator<TaskState, void, undefined> {
    let before: TaskState | undefined
    return read(({ event }, _, { taskStateOf }) => {
      const state = taskStateOf(event)
      if (state === undefined || state === before) return undefined
      before = state
      return state
    })
  }

  const stream: EventStream = {
    [Symbol.asyncIterator]: events,
    text: () => createAwaitableStream(texts, async () => requireCompletedText(await result())),
    states: () => createAwaitableStream(states, () => Array.fromAsync(states())),
    all: () => Array.fromAsync(events()),
    async artifacts() {
      const answer = await result()
      return answer.kind === 'task' ? [...(answer.artifacts ?? [])] : []
    },
    result,
    frames,
    get taskId() {
      return currentState?.taskId
    },
    get contextId() {
      return currentState?.contextId
    },
    get lastEventId() {
      return lastEventId
    },
    relatedTaskIds: related,
  }
  return Object.assign(stream, observableInterop(events))
}

function messagesIn(event: StreamEvent): readonly (Message | undefined)[] {
  if ('message' in event) return [event.message]
  if ('task' in event) return [...(event.task.history ?? []), event.task.status.message]
  return 'statusUpdate' in event ? [event.statusUpdate.status.message] : []
}

function createAwaitableStream<Each, All>(
  iterate: () => AsyncGenerator<Each, void, undefined>,
  gather: () => Promise<All>,
): AwaitableStream<Each, All> {
  let all: Promise<All> | undefined
  return {
    [Symbol.asyncIterator]: iterate,
    then: (fulfilled, rejected) => (all ??= gather()).then(fulfilled, rejected),
    ...observableInterop(iterate),
  }
}

interface Observer<T> {
  next?(value: T): void
  error?(reason: unknown): void
  complete?(): void
}

/** `rxjs.from()` would take a thenable for a promise, and would not release an iterable while waiting for it. */
function observableInterop<T>(iterate: () => AsyncGenerator<T, void, undefined>): object {
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
