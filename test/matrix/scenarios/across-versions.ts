/** A task belongs to no version: a task of one version is read, followed, answered and canceled in every other. */
import assert from 'node:assert/strict'
import { artifact, inputRequired } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import { nameOf, cellBindings } from '../cells.ts'
import { createGate, sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { stateIn } from '../spelling.ts'

async function* endless({ signal }: Turn) {
  yield 'working'
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

export const acrossVersions: readonly Scenario[] = [
  {
    name: 'a task created in one version reads the same in every other [B-13 B-168]',
    async check({ open }) {
      const peer = open(function* ({ message }) {
        yield artifact('mirror', { parts: message.parts, name: 'mirror', metadata: { n: 1 } })
        yield inputRequired('and?')
      })
      const said = [{ text: 'a', filename: 'a.txt' }, { data: [1, null] }, { raw: 'AA==', mediaType: 'image/png' }]
      const task = await sendForTask(peer, said)
      for (const way of cellBindings) {
        const other = peer.as(way)
        assert.deepEqual(await other.get(task.id), task, nameOf(way))
        const { payload } = await other.raw.call('GetTask', { id: task.id })
        assert.equal(payload.status.state, stateIn(other.form, 'TASK_STATE_INPUT_REQUIRED'))
      }
    },
  },
  {
    name: 'a task created in one version is answered in every other, turn by turn [B-13 B-45]',
    async check({ open }) {
      const peer = open(({ text }) => inputRequired(`${text}, and?`))
      const { id } = await sendForTask(peer, 'begin')
      for (const way of cellBindings) {
        const task = await sendForTask(peer.as(way), nameOf(way), { taskId: id })
        assert.deepEqual(task.status.message?.parts, [{ text: `${nameOf(way)}, and?` }])
      }
      assert.equal(
        (await peer.get(id)).history?.filter(({ role }) => role === 'ROLE_USER').length,
        1 + cellBindings.length,
      )
    },
  },
  {
    name: 'a task created in one version is followed in every other, and resumed there from its cursor [B-13 B-94 B-109]',
    async check({ open }) {
      const gate = createGate()
      const peer = open(async function* () {
        yield 'a'
        await gate.opened
        yield 'b'
        yield 'c'
      })
      const own = peer.stream('go').frames()
      const first = await own.next()
      assert.ok(first.done !== true && 'task' in first.value.event)
      const { id } = first.value.event.task
      const lastEventId = first.value.id ?? ''
      const followers = cellBindings.map((way) => Array.fromAsync(peer.as(way).subscribe(id, { lastEventId }).frames()))
      gate.open()
      const rest = (await Array.fromAsync(own)).map(({ event, id }) => ({ event, id }))
      for (const [index, events] of (await Promise.all(followers)).entries()) {
        const seen = events.map(({ event, id }) => ({ event, id }))
        assert.deepEqual(seen, rest, nameOf(cellBindings[index]!))
      }
    },
  },
  {
    name: 'a task created in one version is canceled in every other, in the spelling of each [B-13 B-110]',
    async check({ open }) {
      const peer = open(endless)
      for (const way of cellBindings) {
        const { id } = await sendForTask(peer, 'go', { returnImmediately: true })
        const other = peer.as(way)
        const { payload } = await other.raw.call('CancelTask', { id })
        assert.equal(payload.status.state, stateIn(other.form, 'TASK_STATE_CANCELED'), nameOf(way))
        assert.equal((await peer.get(id)).status.state, 'TASK_STATE_CANCELED')
      }
    },
  },
  {
    name: 'a message repeated in another version or binding is recognized [B-13 B-163]',
    async check({ open }) {
      let runs = 0
      const peer = open(() => String((runs += 1)))
      const said = {
        messageId: crypto.randomUUID(),
        contextId: 'c-1',
        parts: [
          { text: 'hi', mediaType: 'text/plain' },
          { text: '<b>hi</b>', mediaType: 'text/html', filename: 'hi.html' },
          { data: null },
          { data: { b: [1.5, { d: true, c: '' }], a: {} }, metadata: { z: 1, y: null } },
          { raw: '+/8=', mediaType: 'image/png', filename: 'a.png' },
          { url: 'https://example.com/a' },
        ],
        metadata: { 'urn:x': { two: 2, one: 1 } },
        extensions: ['urn:x'],
        referenceTaskIds: ['a-task'],
      }
      // The same content, in another order, and with optional defaults of 1.0.
      const sameAgain = {
        ...Object.fromEntries(Object.entries(said).toReversed()),
        parts: [
          { text: 'hi', metadata: {} },
          { filename: 'hi.html', mediaType: 'text/html', text: '<b>hi</b>' },
          { mediaType: 'application/json', data: null },
          { metadata: { y: null, z: 1 }, data: { a: {}, b: [1.5, { c: '', d: true }] } },
          { filename: 'a.png', raw: '-_8', mediaType: 'image/png' },
          { url: 'https://example.com/a', filename: '' },
        ],
        metadata: { 'urn:x': { one: 1, two: 2 } },
      }
      const task = await sendForTask(peer, said)
      for (const way of cellBindings) {
        assert.equal((await sendForTask(peer.as(way), said)).id, task.id, nameOf(way))
        assert.equal((await sendForTask(peer.as(way), sameAgain)).id, task.id, `${nameOf(way)}, spelled otherwise`)
      }
      assert.equal(runs, 1)
    },
  },
]
