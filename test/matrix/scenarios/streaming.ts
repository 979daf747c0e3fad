/** Streams: how they begin, what they carry, and how they end. */
import assert from 'node:assert/strict'
import { artifact, reply, status } from '@parley/a2a'
import { createGate, sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { assertRefused } from '../assert-refused.ts'
import { artifactUpdateIn, messageIn, partsName, messageParams, stateIn, statusUpdateIn, taskIn } from '../spelling.ts'

export const streaming: readonly Scenario[] = [
  {
    name: 'a stream begins with the task, has all events in order, and closes with its last status [B-89 B-90 B-93 B-99 S2-6]',
    async check({ open, form }) {
      const peer = open(async function* () {
        yield status('thinking')
        yield 'one '
        yield 'two'
      })
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'))
      const payloads = frames.map(({ payload }) => payload)
      const task = taskIn(form, payloads[0])
      assert.equal(task.status.state, stateIn(form, 'TASK_STATE_SUBMITTED'))
      assert.equal(task.history[0][partsName(form)][0].text, 'go')
      const received = payloads.slice(1).map((payload) => {
        const update = statusUpdateIn(form, payload) ?? artifactUpdateIn(form, payload)
        assert.deepEqual([update.taskId, update.contextId], [task.id, task.contextId])
        return update.status?.state ?? update.artifact.parts[0].text
      })
      const [working, completed] = (['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'] as const).map((s) =>
        stateIn(form, s),
      )
      assert.deepEqual(received, [working, 'one ', 'two', completed])
      const said = statusUpdateIn(form, payloads[1]).status.message
      assert.equal(said[partsName(form)][0].text, 'thinking')
    },
  },
  {
    name: 'every frame is one line of data with an increasing id; JSON-RPC repeats the id of the request [F-4 F-6 B-109 S2-5]',
    skip: ({ binding }) => (binding === 'GRPC' ? 'gRPC has messages and no frames around them' : undefined),
    async check({ open, cell }) {
      const peer = open(() => ['a', 'b'])
      const { status, headers, frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'))
      assert.equal(status, 200)
      assert.equal(headers.get('cache-control'), 'no-cache')
      assert.equal(headers.get('x-accel-buffering'), 'no')
      assert.equal(headers.get('a2a-version'), cell.version)
      const ids = frames.map(({ id }) => Number(id))
      assert.ok(
        ids.every((id, index) => Number.isInteger(id) && id > (ids[index - 1] ?? 0)),
        `ids: ${ids.join(' ')}`,
      )
      for (const { body, event } of frames) {
        assert.equal(event, undefined)
        if (cell.binding === 'JSONRPC') assert.deepEqual([body.jsonrpc, body.id, 'error' in body], ['2.0', 1, false])
        else assert.equal('jsonrpc' in body, false)
      }
    },
  },
  {
    name: '0.x marks the last status with final, and 1.0 has no such field [B-97 S2-8]',
    async check({ open, form }) {
      const peer = open(function* () {
        yield status('one')
        yield status('two')
        yield 'done'
      })
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'))
      const finals = frames.map(({ payload }) => statusUpdateIn(form, payload)?.final).filter((f) => f !== undefined)
      assert.deepEqual(finals, form === '1.x' ? [] : [false, false, true])
      assert.equal(frames.filter(({ body }) => JSON.stringify(body).includes('"final"')).length, finals.length)
    },
  },
  {
    name: 'a direct reply is a stream of exactly one message without an id [B-89 T-1]',
    async check({ open, form }) {
      const peer = open(() => reply('hi'))
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'))
      assert.equal(frames.length, 1)
      assert.equal(messageIn(form, frames[0]?.payload)[partsName(form)][0].text, 'hi')
      assert.equal(frames[0]?.id, undefined)
    },
  },
  {
    name: 'chunks have append and lastChunk, and add up to the stored artifact [B-100 S2-7]',
    async check({ open, form }) {
      const peer = open(function* () {
        yield artifact('doc', { text: 'a', name: 'first' })
        yield artifact('doc', { text: 'b', append: true, metadata: { n: 1 } })
        yield artifact('doc', { data: { c: 1 }, append: true, last: true })
        yield artifact('note', { text: 'old' })
        yield artifact('note', { text: 'new' })
      })
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('go'))
      const updates = frames.map(({ payload }) => artifactUpdateIn(form, payload)).filter((u) => u !== undefined)
      assert.deepEqual(
        updates.map(({ append, lastChunk }) => [append === true, lastChunk === true]),
        [
          [false, false],
          [true, false],
          [true, true],
          [false, false],
          [false, false],
        ],
      )
      const { artifacts } = await peer.get(taskIn(form, frames[0]?.payload).id)
      assert.deepEqual(artifacts, [
        { artifactId: 'doc', name: 'first', metadata: { n: 1 }, parts: [{ text: 'ab' }, { data: { c: 1 } }] },
        { artifactId: 'note', parts: [{ text: 'new' }] },
      ])
    },
  },
  {
    name: 'a client that leaves its stream cancels nothing, and finds the task where it continued [B-103 S2-24]',
    async check({ open }) {
      const gate = createGate()
      const reached = createGate()
      const peer = open(async function* ({ text, signal }) {
        yield `began ${text}`
        reached.open()
        await gate.opened
        yield signal.aborted ? ', aborted' : ', ended'
      })
      const leaving = new AbortController()
      const stream = peer.stream('x', { signal: leaving.signal }).frames()
      const first = await stream.next()
      assert.ok(first.done !== true && 'task' in first.value.event)
      const { id } = first.value.event.task
      await reached.opened
      leaving.abort()
      // Whether that is an end or an error depends on the runtime's fetch.
      await Array.fromAsync(stream).catch(() => {})
      let end = ''
      for await (const state of peer.subscribe(id).states()) {
        end = state
        gate.open()
      }
      assert.equal(end, 'TASK_STATE_COMPLETED')
      assert.deepEqual((await peer.get(id)).artifacts?.[0]?.parts, [{ text: 'began x, ended' }])
    },
  },
  {
    name: 'an agent that does not stream refuses streams and subscriptions with a plain error [B-88 B-106 F-7]',
    async check({ open, cell }) {
      const peer = open(() => 'done', { streaming: false })
      assertRefused(cell, await peer.raw.call('SendStreamingMessage', messageParams('go')), 'UNSUPPORTED_OPERATION')
      const { id } = await sendForTask(peer, 'go')
      assertRefused(cell, await peer.raw.call('SubscribeToTask', { id }), 'UNSUPPORTED_OPERATION')
    },
  },
  {
    name: 'a streamed send refuses what a plain send refuses, before any event [B-104 F-7]',
    async check({ open, cell }) {
      const peer = open(() => 'done', { inputModes: ['text/plain'] })
      const { message } = messageParams('go')
      const attempts = [
        { message: { ...message, taskId: 'nowhere' } },
        { message: { ...message, contextId: 'no spaces please' } },
        { message: { ...message, parts: [{ data: 1 }] } },
      ]
      for (const request of attempts) {
        const plain = await peer.raw.call('SendMessage', request)
        const streamed = await peer.raw.call('SendStreamingMessage', request)
        assert.notEqual(streamed.headers.get('content-type'), 'text/event-stream')
        assert.equal(streamed.status, plain.status)
        assert.deepEqual(withoutId(streamed.body), withoutId(plain.body))
      }
      assertRefused(cell, await peer.raw.call('SendStreamingMessage', attempts[0]!), 'TASK_NOT_FOUND')
    },
  },
]

function withoutId({ id: _, ...rest }: any): unknown {
  return rest
}
