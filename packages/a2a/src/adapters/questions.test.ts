/** Answers of callers that are made to take long. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Message } from '../model/task.ts'
import { readAnswer } from './questions.ts'

const saying = (text: string): Message => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] })

it('an answer of many dots is read at once', () => {
  const answer = readAnswer({ kind: 'approval', id: '1', tool: 'x' }, saying(`${'.'.repeat(500_000)}x`))
  assert.ok('problem' in answer)
})

it('a field without a name does not stop the reader', () => {
  const schema = { type: 'object', properties: { '': {}, b: {} }, required: ['', 'b'] }
  assert.ok('problem' in readAnswer({ kind: 'value', id: '1', text: '?', schema }, saying('???')))
})
