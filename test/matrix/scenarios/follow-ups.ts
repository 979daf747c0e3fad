/** Later messages: to a running task, to a finished one, to an unknown one, and with references. */
import assert from 'node:assert/strict'
import { artifact, inputRequired } from '@parley/a2a'
import { assertRefused } from '../assert-refused.ts'
import { createGate, sendForTask, waitUntil } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { messageParams } from '../spelling.ts'

export const followUps: readonly Scenario[] = [
  {
    name: 'a message to a running task waits for its turn, and the task ends after both [B-45 B-49]',
    async check({ open }) {
      const gate = createGate()
      const began = createGate()
      let running = 0
      let most = 0
      const peer = open(async function* ({ text }) {
        most = Math.max(most, ++running)
        began.open()
        if (text === 'first') await gate.opened
        yield `${text} done`
        running -= 1
      })
      const { id } = await sendForTask(peer, 'first', { returnImmediately: true })
      await began.opened
      const second = sendForTask(peer, 'second', { taskId: id })
      // The second message is in the log before the first turn may end.
      await waitUntil(async () => (await peer.get(id)).history?.length === 2)
      gate.open()
      const done = await second
      assert.deepEqual([done.id, done.status.state, most], [id, 'TASK_STATE_COMPLETED', 1])
      assert.deepEqual(
        done.artifacts?.map(({ artifactId, parts }) => [artifactId, parts]),
        [
          ['answer', [{ text: 'first done' }]],
          ['answer-2', [{ text: 'second done' }]],
        ],
      )
    },
  },
  {
    name: 'an agent with `whenBusy: "reject"` refuses messages while it works [B-45]',
    async check({ open, cell }) {
      const gate = createGate()
      const peer = open(() => gate.opened, { whenBusy: 'reject' })
      const { id } = await sendForTask(peer, 'first', { returnImmediately: true })
      const answer = await peer.raw.call('SendMessage', messageParams('second', { taskId: id }))
      assert.equal(assertRefused(cell, answer, 'UNSUPPORTED_OPERATION').details['taskId'], id)
      gate.open()
    },
  },
  {
    name: 'a message to a running task can be passed to the running turn [B-45]',
    async check({ open }) {
      const peer = open(
        async function* ({ text, messages }) {
          yield text
          for await (const { parts } of messages) {
            yield parts.map((part) => ('text' in part ? part.text : '')).join('')
            return
          }
        },
        { whenBusy: 'steer' },
      )
      const { id } = await sendForTask(peer, 'left', { returnImmediately: true })
      const done = await sendForTask(peer, ', no: right', { taskId: id })
      assert.deepEqual(done.artifacts?.[0]?.parts, [{ text: 'left, no: right' }])
    },
  },
  {
    name: 'a finished task accepts no message, whatever its final state [B-43]',
    async check({ open, cell }) {
      const peer = open(({ text }) => (text === 'throw' ? Promise.reject(new Error('no')) : 'done'))
      for (const text of ['end', 'throw']) {
        const { id } = await sendForTask(peer, text)
        const answer = await peer.raw.call('SendMessage', messageParams('more', { taskId: id }))
        assert.equal(assertRefused(cell, answer, 'UNSUPPORTED_OPERATION').details['taskId'], id)
        assert.equal((await peer.get(id)).history?.length, 1)
      }
    },
  },
  {
    name: 'a message after the end opens a new task in the same context that refers to the old one [B-44 B-62 T-2 S2-12]',
    async check({ open }) {
      const peer = open(async function* ({ text, references, context }) {
        const [before] = await references()
        const earlier = before?.artifacts?.[0]
        const known = (await context()).map(({ id }) => id)
        yield artifact(`draft-${text}`, { name: 'draft', text, data: { earlier: earlier?.parts ?? null, known } })
      })
      const first = await sendForTask(peer, 'one')
      const { contextId = '' } = first
      const said = { parts: [{ text: 'two' }], contextId, referenceTaskIds: [first.id, 'no-such-task'] }
      const second = await sendForTask(peer, said)
      assert.notEqual(second.id, first.id)
      assert.equal(second.contextId, contextId)
      const [refined] = second.artifacts ?? []
      assert.deepEqual([refined?.name, refined?.artifactId], ['draft', 'draft-two'])
      assert.deepEqual(refined?.parts[1], {
        data: { earlier: [{ text: 'one' }, { data: { earlier: null, known: [] } }], known: [first.id] },
      })
      assert.deepEqual(second.history?.[0]?.referenceTaskIds, [first.id, 'no-such-task'])
    },
  },
  {
    name: 'a message to an unknown task creates none, and a client cannot choose a task id [B-53 B-54]',
    async check({ open, cell }) {
      let runs = 0
      const peer = open(() => String((runs += 1)))
      const answer = await peer.raw.call('SendMessage', messageParams('hi', { taskId: 'chosen-by-me' }))
      assert.equal(assertRefused(cell, answer, 'TASK_NOT_FOUND').details['taskId'], 'chosen-by-me')
      assertRefused(cell, await peer.raw.call('GetTask', { id: 'chosen-by-me' }), 'TASK_NOT_FOUND')
      assert.equal(runs, 0)
    },
  },
  {
    name: 'a task and a context that do not match are refused [B-57 B-58]',
    async check({ open, cell }) {
      const peer = open(() => inputRequired('and?'))
      const { id, contextId } = await sendForTask(peer, 'hi')
      const answer = await peer.raw.call('SendMessage', messageParams('more', { taskId: id, contextId: 'another' }))
      assert.deepEqual(assertRefused(cell, answer, 'INVALID_PARAMS').fields, ['message.contextId'])
      assert.equal((await peer.get(id)).history?.length, 1)
      const right = await sendForTask(peer, { parts: [{ text: 'more' }], contextId: contextId ?? '' }, { taskId: id })
      assert.equal(right.contextId, contextId)
    },
  },
  {
    name: 'an invalid context id is refused and never replaced [B-56]',
    async check({ open, cell }) {
      const peer = open(() => 'done')
      for (const contextId of ['a b', 'x'.repeat(257), 'ü']) {
        const answer = await peer.raw.call('SendMessage', messageParams('hi', { contextId }))
        assert.deepEqual(assertRefused(cell, answer, 'CONTEXT_REJECTED').fields, ['message.contextId'])
      }
    },
  },
]
