/** Repeated messages: recognized by id and content, while the first runs and after. */
import assert from 'node:assert/strict'
import { inputRequired, reply } from '@parley/a2a'
import { assertRefused } from '../assert-refused.ts'
import { createGate } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { messageParams, taskIn } from '../spelling.ts'

export const repeating: readonly Scenario[] = [
  {
    name: 'a repeated message runs once: later it gets the same task, meanwhile it joins the run [B-163 B-72]',
    async check({ open, form }) {
      const gate = createGate()
      let runs = 0
      const peer = open(async function* () {
        runs += 1
        yield 'working'
        await gate.opened
      })
      const request = messageParams('go')
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
    name: 'a message that got a direct reply gets the same reply again [B-163]',
    async check({ open }) {
      let runs = 0
      const peer = open(() => reply(String((runs += 1))))
      const request = messageParams('go')
      const first = await peer.raw.call('SendMessage', request)
      const second = await peer.raw.call('SendMessage', request)
      assert.deepEqual([second.payload, runs], [first.payload, 1])
    },
  },
  {
    name: 'a repeated id with other content is a new message, and both are recognized [B-163]',
    async check({ open, form }) {
      let runs = 0
      const peer = open(() => String((runs += 1)))
      const request = messageParams('go')
      const other = { message: { ...request.message, parts: [{ text: 'something else' }] } }
      const ask = async (asked: typeof request) => taskIn(form, (await peer.raw.call('SendMessage', asked)).payload)
      const [first, second] = [await ask(request), await ask(other)]
      assert.notEqual(first.id, second.id)
      assert.deepEqual([await ask(request), await ask(other)], [first, second])
      assert.equal(runs, 2)
    },
  },
  {
    name: 'a repeated id with other content inside one task is refused [B-163]',
    async check({ open, form, cell }) {
      const peer = open(() => inputRequired('and?'))
      const opening = messageParams('go')
      const { id } = taskIn(form, (await peer.raw.call('SendMessage', opening)).payload)
      const answer = messageParams('one', { taskId: id })
      await peer.raw.call('SendMessage', answer)
      for (const { messageId } of [answer.message, opening.message]) {
        const other = messageParams('another', { taskId: id, messageId })
        const refusal = assertRefused(cell, await peer.raw.call('SendMessage', other), 'MESSAGE_ID_REUSED')
        assert.deepEqual(refusal.fields, ['message.messageId'])
      }
    },
  },
  {
    name: "an anonymous caller that repeats another's guessable id and text gets neither its task nor its answer [B-163]",
    async check({ open, form }) {
      let number = 0
      const peer = open(() => `call ${(number += 1)}`)
      const request = messageParams('my number?', { messageId: 'm-1' })
      const mine = taskIn(form, (await peer.raw.call('SendMessage', request)).payload)
      const theirs = taskIn(form, (await peer.raw.call('SendMessage', request)).payload)
      assert.notEqual(theirs.id, mine.id)
      assert.doesNotMatch(JSON.stringify(theirs), /call 1/)
      const { frames } = await peer.raw.stream('SendStreamingMessage', request)
      assert.doesNotMatch(JSON.stringify(frames), new RegExp(`call [12]|${mine.id}|${theirs.id}`))
    },
  },
  {
    name: 'a repeated streaming send delivers all events from the start and runs nothing twice [B-163]',
    async check({ open }) {
      let runs = 0
      const peer = open(function* () {
        runs += 1
        yield 'a'
        yield 'b'
      })
      const request = messageParams('go')
      const { frames: all } = await peer.raw.stream('SendStreamingMessage', request)
      const { frames: again } = await peer.raw.stream('SendStreamingMessage', request)
      assert.deepEqual(
        again.map(({ id, payload }) => ({ id, payload })),
        all.map(({ id, payload }) => ({ id, payload })),
      )
      assert.equal(runs, 1)
    },
  },
]
