import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Message } from '../../model/task.ts'
import { userMessage } from '../../testing/fixtures/test-engine.ts'
import { canonicalText } from './message-claims.ts'

const textOf = (message: Partial<Message>): string => canonicalText(userMessage(message))

it('is one text for one content, under any messageId and in any order of keys [B-163]', () => {
  const message = {
    parts: [{ data: { b: [{ d: 1, c: 2 }], a: null }, metadata: { y: 1, x: 2 } }],
    metadata: { b: 1, a: 2 },
  }
  const other = {
    metadata: { a: 2, b: 1 },
    parts: [{ metadata: { x: 2, y: 1 }, data: { a: null, b: [{ c: 2, d: 1 }] } }],
  }
  assert.equal(textOf({ ...message, messageId: 'a' }), textOf({ ...other, messageId: 'b' }))
  assert.equal(
    textOf({ ...message, contextId: 'c' }),
    '{"contextId":"c","metadata":{"a":2,"b":1},"parts":[{"data":{"a":null,"b":[{"c":2,"d":1}]},"metadata":{"x":2,"y":1}}],"role":"ROLE_USER"}',
  )
})

it('omits what some versions and bindings cannot express: empty fields and default media types [B-163]', () => {
  const bare = textOf({ parts: [{ text: '' }, { data: {} }, { raw: '' }] })
  const spelledOut = textOf({
    parts: [
      { text: '', mediaType: 'text/plain', filename: '' },
      { data: {}, mediaType: 'application/json', metadata: {} },
      { raw: '', mediaType: '' },
    ],
    contextId: '',
    extensions: [],
    referenceTaskIds: [],
    metadata: {},
  })
  assert.equal(spelledOut, bare)
})

it('distinguishes contents: parts and their order, files, context, task, references, extensions, metadata [B-163]', () => {
  const texts = [
    textOf({}),
    textOf({ parts: [{ text: 'ih' }] }),
    textOf({ parts: [{ data: 'hi' }] }),
    textOf({ parts: [{ raw: 'hi' }] }),
    textOf({ parts: [{ text: 'hi', mediaType: 'text/html' }] }),
    textOf({ parts: [{ text: 'hi', filename: 'hi' }] }),
    textOf({ parts: [{ text: 'hi', metadata: { a: 1 } }] }),
    textOf({ parts: [{ text: 'h' }, { text: 'i' }] }),
    textOf({ parts: [{ text: 'i' }, { text: 'h' }] }),
    textOf({ parts: [{ text: 'h"},{"text":"i' }] }),
    textOf({ parts: [{ data: {} }] }),
    textOf({ parts: [{ data: [] }] }),
    textOf({ parts: [{ data: null }] }),
    textOf({ parts: [{ data: '' }] }),
    textOf({ contextId: 'c' }),
    textOf({ taskId: 'c' }),
    textOf({ referenceTaskIds: ['c'] }),
    textOf({ extensions: ['c'] }),
    textOf({ metadata: { a: 1 } }),
    textOf({ metadata: { a: '' } }),
    textOf({ metadata: { a: {} } }),
  ]
  assert.equal(new Set(texts).size, texts.length)
})
