/** Answers of callers that are made to take long. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Message, Struct } from '../model/task.ts'
import { questionMessage, readAnswer } from './questions.ts'

const saying = (text: string): Message => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text }] })

it('an answer of many dots is read at once', () => {
  const answer = readAnswer({ kind: 'approval', id: '1', tool: 'x' }, saying(`${'.'.repeat(500_000)}x`))
  assert.ok('problem' in answer)
})

it('a field without a name does not stop the reader', () => {
  const schema = { type: 'object', properties: { '': {}, b: {} }, required: ['', 'b'] }
  assert.ok('problem' in readAnswer({ kind: 'value', id: '1', text: '?', schema }, saying('???')))
})

it('an approval has all arguments as data, and says how much its text leaves out', () => {
  const given = { comment: 'x'.repeat(700), command: 'rm -rf /' }
  const { parts } = questionMessage({ kind: 'approval', id: '1', tool: 'bash', arguments: given })
  const [text, data] = parts as [{ readonly text: string }, { readonly data: { readonly permission: object } }]
  assert.match(text.text, new RegExp(`… \\(${JSON.stringify(given).length - 600} more characters\\)`))
  assert.deepEqual((data.data.permission as { arguments?: unknown }).arguments, given)
})

it('the arguments of an approval are bounded', () => {
  const given = { text: 'x'.repeat(200_000) }
  const { parts } = questionMessage({ kind: 'approval', id: '1', tool: 'write', arguments: given })
  const size = JSON.stringify(parts).length
  assert.ok(size > 100_000 && size < 103_000)
  assert.match(JSON.stringify(parts[1]), /… \(100011 more characters\)/)
})

it('a field of the name __proto__ or constructor stands for no other field', () => {
  const read = (schema: string, message: Message) =>
    readAnswer({ kind: 'value', id: '1', text: '?', schema: JSON.parse(schema) as Struct }, message)
  const proto = '{"properties":{"__proto__":{},"role":{"type":"string"}},"required":["role"]}'
  for (const text of ['__proto__={"role":"admin"}', '__proto__: {"role":"admin"}', '{"__proto__":{"role":"admin"}}'])
    assert.deepEqual(read(proto, saying(text)), { problem: 'role is missing' })
  const constructor = '{"properties":{"constructor":{"type":"string"}},"required":["constructor"]}'
  assert.deepEqual(read(constructor, { ...saying(''), parts: [{ data: {} }] }), { problem: 'constructor is missing' })
  assert.deepEqual(read(constructor, saying('me')), { id: '1', value: { constructor: 'me' } })
})
