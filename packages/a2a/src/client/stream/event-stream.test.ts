import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { firstValueFrom, from, lastValueFrom, take, toArray } from 'rxjs'
import { A2AError } from '../../model/error.ts'
import type { TaskState } from '../../model/state.ts'
import type { Message, StreamEvent, Task } from '../../model/task.ts'
import type { EventStream, EventFrame } from '../contract.ts'
import { createEventStream } from './event-stream.ts'

const about = { taskId: 't', contextId: 'c' }
const task = (state: TaskState = 'TASK_STATE_SUBMITTED', over: Partial<Task> = {}): StreamEvent => ({
  task: { id: 't', contextId: 'c', status: { state }, ...over },
})
const says = (text: string, append = true): StreamEvent => ({
  artifactUpdate: { ...about, artifact: { artifactId: 'answer', parts: [{ text }] }, append },
})
const message = (text: string, over: Partial<Message> = {}): Message => ({
  messageId: `m-${text}`,
  role: 'ROLE_AGENT',
  parts: [{ text }],
  ...over,
})
const moves = (state: TaskState, text?: string): StreamEvent => ({
  statusUpdate: { ...about, status: { state, ...(text !== undefined ? { message: message(text) } : {}) } },
})
const working = moves('TASK_STATE_WORKING')
const completed = moves('TASK_STATE_COMPLETED')
const hello = [task(), working, says('Hel', false), says('lo'), completed]

function streamOf(...events: readonly StreamEvent[]): EventStream {
  return createEventStream(async function* () {
    for (const [index, event] of events.entries()) yield { event, id: String(index + 1), final: undefined }
  })
}

/** A stream that yields the given events and then waits for ever; `closed` is called when it is released. */
function openEnded(...events: readonly StreamEvent[]) {
  const closed = Promise.withResolvers<void>()
  const stream = createEventStream(async function* (leaving): AsyncGenerator<EventFrame> {
    try {
      for (const event of events) yield { event, id: undefined, final: undefined }
      await new Promise((_, reject) => {
        leaving.addEventListener('abort', () => reject(leaving.reason as Error))
      })
    } finally {
      closed.resolve()
    }
  })
  return { stream, closed: closed.promise }
}

describe('a stream of events', () => {
  it('does nothing before it is read', async () => {
    let opened = 0
    const stream = createEventStream(async function* () {
      opened += 1
      yield { event: { message: message('hi') }, id: undefined, final: undefined }
    })
    stream.text()
    stream.frames()
    stream[Symbol.asyncIterator]()
    assert.equal(opened, 0)
    assert.equal(await stream.text(), 'hi')
    assert.equal(opened, 1)
  })

  it('yields each event, or each with its cursor, or all of them', async () => {
    assert.deepEqual(await Array.fromAsync(streamOf(...hello)), hello)
    assert.deepEqual(await streamOf(...hello).all(), hello)
    const frames = await Array.fromAsync(streamOf(...hello).frames())
    assert.deepEqual(
      frames.map(({ event, id }) => [id, event]),
      hello.map((event, index) => [String(index + 1), event]),
    )
  })

  it('is read once, and throws on a second read', async () => {
    const stream = streamOf(...hello)
    await stream.all()
    const again = { code: 'INVALID_REQUEST', message: /read only once/ }
    await assert.rejects(stream.all(), again)
    await assert.rejects(Array.fromAsync(stream.text()), again)
    await assert.rejects(stream.states()[Symbol.asyncIterator]().next(), again)
    const { stream: left } = openEnded(task())
    for await (const _ of left) break
    await assert.rejects(left.result(), again)
  })

  it('has its result after it has been read', async () => {
    const stream = streamOf(...hello)
    assert.deepEqual(await Array.fromAsync(stream.text()), ['Hel', 'lo'])
    const result = await stream.result()
    assert.equal(result.kind === 'task' && result.status.state, 'TASK_STATE_COMPLETED')
    assert.deepEqual(await stream.artifacts(), [{ artifactId: 'answer', parts: [{ text: 'Hello' }] }])
  })

  it('yields the states as they change, live or all at once', async () => {
    const states = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']
    const events = [task(), working, says('x'), moves('TASK_STATE_WORKING', 'page 2'), completed]
    assert.deepEqual(await streamOf(...events).states(), states)
    assert.deepEqual(await Array.fromAsync(streamOf(...events).states()), states)
  })

  it('has its task, its context, its cursor and the tasks it refers to while it is read', async () => {
    const refers = (...referenceTaskIds: string[]) => message('see', { referenceTaskIds })
    const stream = streamOf(
      task('TASK_STATE_SUBMITTED', { history: [refers('earlier')] }),
      { statusUpdate: { ...about, status: { state: 'TASK_STATE_WORKING', message: refers('child', 'other') } } },
      completed,
    )
    assert.deepEqual([stream.taskId, stream.contextId, stream.lastEventId], [undefined, undefined, undefined])
    const seen: unknown[] = []
    for await (const _ of stream) {
      seen.push([stream.taskId, stream.contextId, stream.lastEventId, [...stream.relatedTaskIds]])
    }
    assert.deepEqual(seen, [
      ['t', 'c', '1', ['earlier']],
      ['t', 'c', '2', ['earlier', 'child', 'other']],
      ['t', 'c', '3', ['earlier', 'child', 'other']],
    ])
  })

  it('ends when the reader leaves, also while it waits for an event [B-103]', async () => {
    const first = openEnded(task(), working)
    for await (const event of first.stream) if ('statusUpdate' in event) break
    await first.closed

    const second = openEnded(task(), says('x'))
    const texts = second.stream.text()[Symbol.asyncIterator]()
    assert.deepEqual(await texts.next(), { done: false, value: 'x' })
    const pending = texts.next()
    await texts.return?.()
    assert.deepEqual(await pending, { done: true, value: undefined })
    await second.closed
  })

  it('passes on errors, after the received events', async () => {
    const stream = createEventStream(async function* () {
      yield { event: task(), id: undefined, final: undefined }
      throw new A2AError('INTERRUPTED', 'gone')
    })
    const seen: StreamEvent[] = []
    await assert.rejects(
      async () => {
        for await (const event of stream) seen.push(event)
      },
      { code: 'INTERRUPTED' },
    )
    assert.equal(seen.length, 1)
    await assert.rejects(stream.result(), { code: 'INTERRUPTED' })
  })

  it('fetches the whole task if it begins in the middle', async () => {
    const whole: Task = {
      id: 't',
      status: { state: 'TASK_STATE_COMPLETED' },
      artifacts: [{ artifactId: 'answer', parts: [{ text: 'Hello' }] }],
    }
    const fromTheMiddle = (...events: readonly StreamEvent[]) =>
      createEventStream(
        async function* () {
          for (const event of events) yield { event, id: undefined, final: undefined }
        },
        undefined,
        async () => whole,
      )
    assert.deepEqual(await fromTheMiddle(says('lo'), completed).result(), { kind: 'task', ...whole })
    assert.equal(await fromTheMiddle(says('lo'), completed).text(), 'Hello')
    assert.deepEqual(await Array.fromAsync(fromTheMiddle(says('lo'), completed).text()), ['lo'])
    assert.deepEqual(await Array.fromAsync(fromTheMiddle(moves('TASK_STATE_COMPLETED', 'bye')).text()), [])
  })
})

describe('the text of a stream', () => {
  it('is that of the artifacts, live or complete', async () => {
    assert.deepEqual(await Array.fromAsync(streamOf(...hello).text()), ['Hel', 'lo'])
    const text = streamOf(...hello).text()
    assert.deepEqual([await text, await text], ['Hello', 'Hello'])
  })

  it('begins with the text of a snapshot', async () => {
    const artifacts = [{ artifactId: 'answer', parts: [{ text: 'Hel' }] }]
    const events = [task('TASK_STATE_WORKING', { artifacts }), says('lo'), completed]
    assert.deepEqual(await Array.fromAsync(streamOf(...events).text()), ['Hel', 'lo'])
  })

  it('is that of the last agent message without an artifact', async () => {
    for (const events of [[{ message: message('hi') }], [task(), moves('TASK_STATE_COMPLETED', 'hi')]]) {
      assert.equal(await streamOf(...events).text(), 'hi')
      assert.deepEqual(await Array.fromAsync(streamOf(...events).text()), ['hi'])
    }
  })

  it('fails after the received text if the task failed, and the events do not', async () => {
    const ends = [
      ['TASK_STATE_FAILED', 'TASK_FAILED'],
      ['TASK_STATE_REJECTED', 'TASK_FAILED'],
      ['TASK_STATE_CANCELED', 'TASK_FAILED'],
      ['TASK_STATE_INPUT_REQUIRED', 'INPUT_REQUIRED'],
      ['TASK_STATE_AUTH_REQUIRED', 'INPUT_REQUIRED'],
    ] as const
    for (const [state, code] of ends) {
      const events = [task(), says('so far'), moves(state, 'why')]
      const chunks: string[] = []
      const error = { code, message: 'why', details: { taskId: 't', contextId: 'c', state } }
      await assert.rejects(async () => {
        for await (const chunk of streamOf(...events).text()) chunks.push(chunk)
      }, error)
      assert.deepEqual(chunks, ['so far'])
      await assert.rejects(async () => streamOf(...events).text(), error)
      assert.equal((await streamOf(...events).all()).length, 3)
      const result = await streamOf(...events).result()
      assert.equal(result.kind === 'task' && result.status.state, state)
    }
  })
})

describe('a stream as an observable', () => {
  it('works with rxjs: events, chunks and states', async () => {
    assert.deepEqual(await lastValueFrom(from(streamOf(...hello)).pipe(toArray())), hello)
    assert.deepEqual(await lastValueFrom(from(streamOf(...hello).text()).pipe(toArray())), ['Hel', 'lo'])
    const states = await lastValueFrom(from(streamOf(...hello).states()).pipe(toArray()))
    assert.deepEqual(states, ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'])
  })

  it('is closed by unsubscribing, also while it waits', async () => {
    const first = openEnded(says('a'), says('b'))
    assert.equal(await firstValueFrom(from(first.stream.text()).pipe(take(1))), 'a')
    await first.closed

    const second = openEnded(task())
    const seen = Promise.withResolvers<StreamEvent>()
    const subscription = from(second.stream).subscribe((event) => seen.resolve(event))
    await seen.promise
    subscription.unsubscribe()
    await second.closed
  })

  it('passes on errors', async () => {
    const failed = streamOf(task(), moves('TASK_STATE_FAILED', 'why'))
    await assert.rejects(lastValueFrom(from(failed.text())), { code: 'TASK_FAILED' })
  })
})
