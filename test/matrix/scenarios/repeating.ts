/** The same message once more: recognised by its id, while it runs and after. */
import assert from 'node:assert/strict'
import { reply } from '@parley/a2a'
import { assertRefused } from '../refusal.ts'
import { createGate } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { saying, taskIn } from '../spelling.ts'

export const repeating: readonly Scenario[] = [
  {
    name: 'a message that comes twice runs once: later it gets the same task, meanwhile it joins [B-163 B-72]',
    async check({ open, form }) {
      const gate = createGate()
      let runs = 0
      const peer = open(async function* () {
        runs += 1
        yield 'working'
        await gate.opened
      })
      const request = saying('go')
      const first = peer.raw.call('SendMessage', request)
      const second = peer.raw.call('SendMessage', request)
      gate.open()
      const done = taskIn(form, (await first).payload)
      assert.deepEqual(taskIn(form, (await second).payload), done)
      assert.deepEqual(taskIn(form, (await peer.raw.call('SendMessage', request)).payload), done)
      assert.equal(runs, 1)
    },
  },
  {
    name: 'a message that was answered with a message is answered with the same again [B-163]',
    async check({ open }) {
      let runs = 0
      const peer = open(() => reply(String((runs += 1))))
      const request = saying('go')
      const first = await peer.raw.call('SendMessage', request)
      const second = await peer.raw.call('SendMessage', request)
      assert.deepEqual([second.payload, runs], [first.payload, 1])
    },
  },
  {
    name: 'an id that comes again with other content is refused [B-163]',
    async check({ open, cell }) {
      const peer = open(() => 'done')
      const request = saying('go')
      await peer.raw.call('SendMessage', request)
      const other = { message: { ...request.message, parts: [{ text: 'something else' }] } }
      const refusal = assertRefused(cell, await peer.raw.call('SendMessage', other), 'MESSAGE_ID_REUSED')
      assert.deepEqual(refusal.fields, ['message.messageId'])
    },
  },
]
