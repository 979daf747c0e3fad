/** Joining a running stream, and resuming an interrupted one. */
import assert from 'node:assert/strict'
import { inputRequired } from '@parley/a2a'
import type { StreamEvent } from '@parley/a2a'
import { assertRefused } from '../assert-refused.ts'
import { createGate, sendForTask, waitUntil } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { messageParams, stateIn, statusUpdateIn, taskIn, isLegacy } from '../spelling.ts'

export const subscribing: readonly Scenario[] = [
  {
    name: 'a subscription begins with the current task and continues without gaps or repetitions [B-105 B-107 T-5]',
    async check({ open }) {
      const gate = createGate()
      const peer = open(async function* () {
        yield 'a'
        yield 'b'
        await gate.opened
        yield 'c'
        yield 'd'
      })
      const { id } = await sendForTask(peer, 'go', { returnImmediately: true })
      await waitUntil(async () => textOf((await peer.get(id)).artifacts?.[0]?.parts) === 'ab')
      const stream = peer.subscribe(id).frames()
      const first = await stream.next()
      assert.ok(first.done !== true && 'task' in first.value.event)
      const snapshot = first.value.event.task
      assert.deepEqual([snapshot.status.state, textOf(snapshot.artifacts?.[0]?.parts)], ['TASK_STATE_WORKING', 'ab'])
      gate.open()
      const rest = await Array.fromAsync(stream)
      assert.deepEqual(
        rest.map(({ event }) => wordOf(event)),
        ['c', 'd', 'TASK_STATE_COMPLETED'],
      )
      assert.ok(Number(rest[0]?.id) > Number(first.value.id))
    },
  },
  {
    name: 'a task that waits for input can be subscribed to, and the stream delivers what follows its answer [B-107]',
    async check({ open }) {
      const peer = open(({ text }) => (text === 'go' ? inputRequired('and?') : 'done'))
      const { id } = await sendForTask(peer, 'go')
      const stream = peer.subscribe(id).frames()
      const first = await stream.next()
      assert.ok(first.done !== true && 'task' in first.value.event)
      assert.equal(first.value.event.task.status.state, 'TASK_STATE_INPUT_REQUIRED')
      const rest = Array.fromAsync(stream)
      await peer.send('on', { taskId: id })
      assert.deepEqual(
        (await rest).map(({ event }) => wordOf(event)),
        ['TASK_STATE_WORKING', 'done', 'TASK_STATE_COMPLETED'],
      )
    },
  },
  {
    name: 'a finished task is refused by 1.0 and sent once by 0.x [B-106 B-108]',
    async check({ open, cell, form }) {
      const peer = open(() => 'done')
      const { id } = await sendForTask(peer, 'go')
      if (form === '1.x') {
        const refusal = assertRefused(cell, await peer.raw.call('SubscribeToTask', { id }), 'UNSUPPORTED_OPERATION')
        assert.equal(refusal.details['taskId'], id)
        return
      }
      const { frames } = await peer.raw.stream('SubscribeToTask', { id })
      assert.equal(frames.length, 1)
      assert.equal(taskIn(form, frames[0]?.payload).status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
    },
  },
  {
    name: 'a subscription to an unknown task is a plain error, or an event where 0.x clients read nothing else [B-106 F-7]',
    async check({ open, cell, form }) {
      const peer = open(() => 'done')
      const answer = await peer.raw.call('SubscribeToTask', { id: 'nowhere' })
      assertRefused(cell, answer, 'TASK_NOT_FOUND')
      assert.equal(answer.isEvent, form === '0.x JSON-RPC')
    },
  },
  {
    name: 'REST serves a subscription to GET and to POST [F-9]',
    skip: ({ binding }) => (binding === 'JSONRPC' ? 'JSON-RPC has no verbs but POST' : undefined),
    async check({ open, cell }) {
      const peer = open(() => inputRequired('and?'))
      const { id } = await sendForTask(peer, 'go')
      const path = `${isLegacy(cell) ? '/v1' : ''}/tasks/${id}:subscribe`
      for (const method of ['GET', 'POST']) {
        const response = await peer.raw.fetch(path, { method })
        assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream'])
        await response.body?.cancel()
      }
    },
  },
  {
    name: 'Last-Event-ID resumes a subscription right after that event, also after the task has ended [B-109]',
    async check({ open }) {
      const peer = open(function* () {
        yield 'a'
        yield 'b'
        yield 'c'
      })
      const all = await Array.fromAsync(peer.stream('go').frames())
      const first = all[0]
      assert.ok(first !== undefined && 'task' in first.event)
      const { id } = first.event.task
      for (const [index, { id: lastEventId = '' }] of all.entries()) {
        const resumed = await Array.fromAsync(peer.subscribe(id, { lastEventId }).frames())
        assert.deepEqual(resumed, all.slice(index + 1), `after event ${lastEventId}`)
      }
    },
  },
  {
    name: 'Last-Event-ID resumes a running task, and the query carries it for clients that cannot set headers [B-109 B-105]',
    async check({ open, cell }) {
      const gate = createGate()
      const peer = open(async function* () {
        yield 'a'
        yield 'b'
        await gate.opened
        yield 'c'
      })
      const stream = peer.stream('go').frames()
      const seen = [await next(stream), await next(stream), await next(stream)]
      const first = seen[0]
      assert.ok(first !== undefined && 'task' in first.event)
      const { id } = first.event.task
      const resumed = peer.subscribe(id, { lastEventId: seen[1]?.id ?? '' }).frames()
      assert.deepEqual(await next(resumed), seen[2])
      gate.open()
      const [left, right] = await Promise.all([Array.fromAsync(stream), Array.fromAsync(resumed)])
      assert.deepEqual(right, left)
      if (cell.binding === 'JSONRPC') return
      const path = `${isLegacy(cell) ? '/v1' : ''}/tasks/${id}:subscribe?lastEventId=${left.at(-2)?.id}`
      const text = await (await peer.raw.fetch(path)).text()
      assert.equal(text.match(/^data: /gm)?.length, 1)
      assert.match(text, new RegExp(`^id: ${left.at(-1)?.id}$`, 'm'))
    },
  },
  {
    name: 'a repeated streaming send continues after its Last-Event-ID and runs nothing twice [B-109 B-163]',
    async check({ open, form }) {
      let runs = 0
      const peer = open(function* () {
        runs += 1
        yield 'a'
        yield 'b'
      })
      const request = messageParams('go')
      const { frames: all } = await peer.raw.stream('SendStreamingMessage', request)
      const headers = { 'Last-Event-ID': all[1]?.id ?? '' }
      const { frames: rest } = await peer.raw.stream('SendStreamingMessage', request, { headers })
      assert.deepEqual(
        rest,
        all.slice(2).map((frame) => sameBut(frame, rest)),
      )
      assert.equal(statusUpdateIn(form, rest.at(-1)?.payload).status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
      assert.equal(runs, 1)
    },
  },
  {
    name: 'an invalid Last-Event-ID is ignored [B-109]',
    async check({ open }) {
      const peer = open(() => inputRequired('and?'))
      const { id } = await sendForTask(peer, 'go')
      for (const lastEventId of ['abc', '-1', '999999', '1.5']) {
        const stream = peer.subscribe(id, { lastEventId }).frames()
        assert.ok('task' in (await next(stream)).event)
        await stream.return()
      }
    },
  },
]

async function next<T>(stream: AsyncGenerator<T>): Promise<T> {
  const { done, value } = await stream.next()
  assert.ok(done !== true, 'the stream ended early')
  return value
}

/** The JSON-RPC id of each request is its own. */
function sameBut<F extends { readonly body: any }>(frame: F, rest: readonly F[]): F {
  const id = rest[0]?.body.id
  return id === undefined ? frame : { ...frame, body: { ...frame.body, id } }
}

function wordOf(event: StreamEvent): string {
  if ('artifactUpdate' in event) return textOf(event.artifactUpdate.artifact.parts)
  return 'statusUpdate' in event ? event.statusUpdate.status.state : assert.fail('neither artifact nor status')
}

function textOf(parts: readonly object[] = []): string {
  return parts.map((part) => ('text' in part ? String(part.text) : '')).join('')
}
