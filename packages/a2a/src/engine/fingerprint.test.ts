import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Message } from '../model/task.ts'
import { userMessage } from '../testing/engine-fixture.ts'
import { fingerprint } from './fingerprint.ts'

const print = (message: Partial<Message>): string => fingerprint(userMessage(message))

it('knows the same content again, under any messageId [B-163]', () => {
  const message = { parts: [{ text: 'hi' }], metadata: { a: 1 } }
  assert.equal(print({ ...message, messageId: 'a' }), print({ ...message, messageId: 'b' }))
})

it('tells contents apart: parts, context, task, references, metadata [B-163]', () => {
  const prints = [
    print({}),
    print({ parts: [{ text: 'ih' }] }),
    print({ parts: [{ data: 'hi' }] }),
    print({ contextId: 'c' }),
    print({ taskId: 'c' }),
    print({ referenceTaskIds: ['c'] }),
    print({ metadata: { a: 1 } }),
  ]
  assert.equal(new Set(prints).size, prints.length)
})

it('tells long contents apart by their length and by what it samples [B-163]', () => {
  const long = 'x'.repeat(500_000)
  assert.notEqual(print({ parts: [{ text: long }] }), print({ parts: [{ text: `${long}x` }] }))
  assert.notEqual(print({ parts: [{ text: long }] }), print({ parts: [{ text: `y`.repeat(500_000) }] }))
})
