/** CancelTask: its response, the spelling of the state, and what it does not change. */
import assert from 'node:assert/strict'
import { inputRequired } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import { assertRefused } from '../assert-refused.ts'
import { createGate, sendForTask, waitUntil } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { stateIn, isLegacy } from '../spelling.ts'

/** Works until its signal aborts. */
async function* endless({ signal }: Turn) {
  yield 'working'
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

export const canceling: readonly Scenario[] = [
  {
    name: 'a cancel returns the task as CANCELED, CANCELLED or canceled, as the version spells it [B-110 B-6]',
    async check({ open, form }) {
      const peer = open(endless)
      const { id } = await sendForTask(peer, 'go', { returnImmediately: true })
      const { status, payload } = await peer.raw.call('CancelTask', { id })
      const spelled = { '1.x': 'TASK_STATE_CANCELED', '0.x JSON-RPC': 'canceled', '0.x REST': 'TASK_STATE_CANCELLED' }
      assert.deepEqual([status, payload.id, payload.status.state], [200, id, spelled[form]])
      assert.equal(payload.kind, form === '0.x JSON-RPC' ? 'task' : undefined)
      assert.equal((await peer.get(id)).status.state, 'TASK_STATE_CANCELED')
    },
  },
  {
    name: 'a second cancel returns the same task in 1.0, and is refused by 0.x [B-112]',
    async check({ open, cell, form }) {
      const peer = open(endless)
      const { id } = await sendForTask(peer, 'go', { returnImmediately: true })
      const first = await peer.raw.call('CancelTask', { id })
      const second = await peer.raw.call('CancelTask', { id })
      if (form === '1.x') assert.deepEqual([second.status, second.payload], [200, first.payload])
      else assertRefused(cell, second, 'TASK_NOT_CANCELABLE')
    },
  },
  {
    name: 'a task that has ended otherwise cannot be canceled, and an unknown one is not found [B-111 B-113]',
    async check({ open, cell }) {
      const peer = open(({ text }) => (text === 'throw' ? Promise.reject(new Error('no')) : 'done'))
      for (const text of ['end', 'throw']) {
        const { id, status } = await sendForTask(peer, text)
        const refusal = assertRefused(cell, await peer.raw.call('CancelTask', { id }), 'TASK_NOT_CANCELABLE')
        assert.equal(refusal.details['taskId'], id)
        assert.equal((await peer.get(id)).status.state, status.state)
      }
      assertRefused(cell, await peer.raw.call('CancelTask', { id: 'nowhere' }), 'TASK_NOT_FOUND')
    },
  },
  {
    name: 'a cancel reaches every stream and ends every waiting send [B-114]',
    async check({ open, form }) {
      const peer = open(endless)
      const stream = peer.stream('go').frames()
      const first = await stream.next()
      assert.ok(first.done !== true && 'task' in first.value.event)
      const { id } = first.value.event.task
      const waiting = sendForTask(peer, 'and this', { taskId: id })
      await waitUntil(async () => (await peer.get(id)).history?.length === 2)
      await peer.cancel(id)
      const rest = await Array.fromAsync(stream)
      const last = rest.at(-1)
      assert.ok(last !== undefined && 'statusUpdate' in last.event)
      assert.equal(last.event.statusUpdate.status.state, 'TASK_STATE_CANCELED')
      assert.equal(last.final, form === '1.x' ? undefined : true)
      assert.equal((await waiting).status.state, 'TASK_STATE_CANCELED')
    },
  },
  {
    name: 'a task that waits for input can be canceled, and accepts no answer afterwards [B-110 B-43]',
    async check({ open, form }) {
      const peer = open(() => inputRequired('Which?'))
      const { id } = await sendForTask(peer, 'go')
      const { payload } = await peer.raw.call('CancelTask', { id })
      assert.equal(payload.status.state, stateIn(form, 'TASK_STATE_CANCELED'))
      await assert.rejects(peer.send('this', { taskId: id }), { code: 'UNSUPPORTED_OPERATION' })
    },
  },
  {
    name: 'an agent that ignores the cancel loses the task after a grace period, and its later output is dropped [B-110 B-43]',
    async check({ open }) {
      const gate = createGate()
      const peer = open(
        async function* ({ text }) {
          yield 'before'
          if (text === 'stubborn') await gate.opened
          yield 'after'
        },
        { cancelGraceMs: 20 },
      )
      const { id } = await sendForTask(peer, 'stubborn', { returnImmediately: true })
      const canceled = await peer.cancel(id)
      assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
      gate.open()
      // Earlier reports of the agent had time to be written before this ends.
      await sendForTask(peer, 'another')
      assert.deepEqual(await peer.get(id), canceled)
    },
  },
  {
    name: 'metadata of a cancel is accepted, and so is a REST cancel with no body or a literal null [F-9]',
    async check({ open, cell }) {
      const peer = open(endless)
      const begin = async () => (await sendForTask(peer, 'go', { returnImmediately: true })).id
      await peer.wire.call('CancelTask', { id: await begin(), metadata: { why: 'changed my mind' } })
      if (cell.binding === 'JSONRPC') return
      const headers = { 'content-type': 'application/json' }
      for (const init of [{}, { body: 'null', headers }, { body: '{}', headers }]) {
        const path = `${isLegacy(cell) ? '/v1' : ''}/tasks/${await begin()}:cancel`
        const response = await peer.raw.fetch(path, { method: 'POST', ...init })
        assert.equal(response.status, 200, await response.text())
      }
    },
  },
]
