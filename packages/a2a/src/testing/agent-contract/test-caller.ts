/** A caller of the agent under test, and the streams it reads. Every call has a timeout. */
import { withTimeout } from '../../model/signals.ts'
import { omitUndefined } from '../../model/struct.ts'
import { type Message, type Task, taskIdOfEvent } from '../../model/task.ts'
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventFrame } from '../../client/contract.ts'
import { newId } from '../../model/id.ts'
import type { SendMessageConfiguration, SendMessageRequest } from '../../model/operation.ts'
import type { TaskState } from '../../model/state.ts'
import type { TestWire } from '../test-wire.ts'

export interface SendTarget {
  readonly taskId?: string
  readonly contextId?: string
}

export interface TestCaller {
  send(text: string, about?: SendTarget): Promise<Task | Message>
  /** Does not wait for the result. */
  start(text: string, about?: SendTarget): Promise<Task>
  /** Begins to read at once. */
  stream(text: string, about?: SendTarget): TestStreamReading
  subscribe(taskId: string, lastEventId?: string): TestStreamReading
  get(taskId: string): Promise<Task>
  cancel(taskId: string): Promise<Task>
  /** The task once it is in one of these states. */
  reaches(taskId: string, ...states: readonly TaskState[]): Promise<Task>
}

/** A stream that is read as it comes. */
export interface TestStreamReading {
  /** The frames received so far. */
  readonly frames: readonly EventFrame[]
  /** The first frame that matches, including those already received. */
  first(fits: (frame: EventFrame) => boolean): Promise<EventFrame>
  /** All frames, when the server has ended the stream. */
  end(): Promise<readonly EventFrame[]>
  /** Like a connection that breaks. */
  disconnect(): void
}

export function createTestCaller(wire: TestWire, stepTimeoutMs: number): TestCaller {
  const soon = <T>(promise: Promise<T>, what: string): Promise<T> => withDeadline(promise, stepTimeoutMs, what)

  async function send(
    text: string,
    about: SendTarget,
    configuration?: SendMessageConfiguration,
  ): Promise<Task | Message> {
    const request = { ...requestOf(text, about), ...omitUndefined({ configuration }) }
    const answer = await soon(wire.call('SendMessage', request), `an answer to ${JSON.stringify(text)}`)
    return 'task' in answer ? answer.task : answer.message
  }

  const caller: TestCaller = {
    send: (text, about = {}) => send(text, about),
    async start(text, about = {}) {
      const task = await send(text, about, { returnImmediately: true })
      assert.ok('status' in task, `expected a task for ${JSON.stringify(text)}, got ${JSON.stringify(task)}`)
      return task
    },
    stream: (text, about = {}) =>
      createStreamReading((signal) => wire.stream('SendStreamingMessage', requestOf(text, about), { signal }), soon),
    subscribe: (id, lastEventId) =>
      createStreamReading(
        (signal) => wire.stream('SubscribeToTask', { id }, { signal, ...omitUndefined({ lastEventId }) }),
        soon,
      ),
    get: (id) => soon(wire.call('GetTask', { id }), 'GetTask'),
    cancel: (id) => soon(wire.call('CancelTask', { id }), 'CancelTask'),
    async reaches(id, ...states) {
      for (const giveUpAt = Date.now() + stepTimeoutMs; ;) {
        const task = await caller.get(id)
        if (states.includes(task.status.state)) return task
        assert.ok(
          Date.now() < giveUpAt,
          `timed out waiting for ${states.join(' or ')}: the state is ${task.status.state}`,
        )
        await sleep(10)
      }
    },
  }
  return caller
}

function requestOf(text: string, about: SendTarget): SendMessageRequest {
  return { message: { messageId: newId(), role: 'ROLE_USER', parts: [{ text }], ...about } }
}

type WithDeadline = <T>(promise: Promise<T>, what: string) => Promise<T>

function createStreamReading(
  open: (signal: AbortSignal) => AsyncIterable<EventFrame>,
  soon: WithDeadline,
): TestStreamReading {
  const leaving = new AbortController()
  const frames: EventFrame[] = []
  let wake = Promise.withResolvers<void>()
  const over = pump()
  // A caller that waits for a frame or for the end gets the error; a stream that was left may fail unobserved.
  over.catch(() => {})

  async function pump(): Promise<void> {
    try {
      for await (const frame of open(leaving.signal)) {
        frames.push(frame)
        wake.resolve()
        wake = Promise.withResolvers()
      }
    } catch (reason) {
      if (!leaving.signal.aborted) throw reason
    }
  }

  async function find(fits: (frame: EventFrame) => boolean): Promise<EventFrame> {
    let isOver = false
    for (let seen = 0; ;) {
      for (; seen < frames.length; seen += 1) {
        const frame = frames[seen]
        if (frame !== undefined && fits(frame)) return frame
      }
      assert.ok(!isOver, `the stream ended without the event waited for; it had ${JSON.stringify(frames)}`)
      await Promise.race([wake.promise, over.then(() => (isOver = true))])
    }
  }

  return {
    frames,
    first: (fits) => soon(find(fits), 'an event of the stream'),
    async end() {
      await soon(over, 'the end of the stream')
      return frames
    },
    disconnect: () => leaving.abort(),
  }
}

export function withDeadline<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  return withTimeout(promise, ms, () => new assert.AssertionError({ message: `timed out waiting for ${what}` }))
}

export function stateOfFrame({ event }: EventFrame): TaskState | undefined {
  if ('task' in event) return event.task.status.state
  return 'statusUpdate' in event ? event.statusUpdate.status.state : undefined
}

export function taskIdOfFrame({ event }: EventFrame): string | undefined {
  return taskIdOfEvent(event)
}

/** The text that an artifact chunk adds; undefined if it adds none. */
export function chunkTextOf({ event }: EventFrame): string | undefined {
  if (!('artifactUpdate' in event)) return undefined
  const text = event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
  return text === '' ? undefined : text
}
