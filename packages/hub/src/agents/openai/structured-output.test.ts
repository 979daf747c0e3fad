import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Message, Struct, Turn } from '@parley/a2a'
import { structuredOutputFor } from './structured-output.ts'

const tickets = {
  type: 'array',
  items: { $ref: '#/$defs/ticket' },
  $defs: {
    ticket: {
      type: 'object',
      properties: { number: { type: 'string' } },
      required: ['number'],
      additionalProperties: false,
    },
  },
}
const turnWith = (message: Partial<Message>, more: Partial<Turn> = {}): Turn =>
  ({ message: { parts: [{ text: 'x' }], ...message }, metadata: {}, acceptedOutputModes: [], ...more }) as Turn
const hinted = (metadata: Struct): Turn => turnWith({ parts: [{ text: 'Show my tickets', metadata }] })

describe('an answer that has to fit a schema', () => {
  it('is asked for by the metadata of a part, of the message or of the request', () => {
    const schema = { type: 'object', title: 'My answer!', properties: {} }
    for (const turn of [hinted({ schema }), turnWith({ metadata: { schema } }), turnWith({}, { metadata: { schema } })])
      assert.deepEqual(structuredOutputFor(turn, 'json_schema')?.responseFormat, {
        type: 'json_schema',
        json_schema: { name: 'My_answer_', schema },
      })
    assert.equal(structuredOutputFor(turnWith({}), 'json_schema'), undefined)
    assert.equal(structuredOutputFor(hinted({ schema: 'none' }), 'json_schema'), undefined)
  })

  it('has an object at the top where the endpoint needs one, and is given without it', () => {
    const structure = structuredOutputFor(hinted({ mimeType: 'application/json', schema: tickets }), 'json_schema')
    const { $defs, ...list } = tickets
    assert.deepEqual(structure?.responseFormat?.['json_schema'], {
      name: 'answer',
      strict: true,
      schema: { type: 'object', properties: { value: list }, required: ['value'], additionalProperties: false, $defs },
    })
    assert.deepEqual(structure?.read('{"value":[{"number":"1"}]}'), { value: [{ number: '1' }] })
    assert.deepEqual(structure?.read('[{"number":"1"}]'), { value: [{ number: '1' }] })
  })

  it('is not taken unless it fits', () => {
    const structure = structuredOutputFor(hinted({ schema: tickets }), 'json_schema')
    assert.match(JSON.stringify(structure?.read('{"value":[{"number":1}]}')), /"wrong":.*(number|string)/)
    assert.match(JSON.stringify(structure?.read('Here you are:')), /"wrong":.*not JSON/)
  })

  it('is described in words where the endpoint knows nothing better', () => {
    const asObject = structuredOutputFor(hinted({ schema: tickets }), 'json_object')
    assert.deepEqual(asObject?.responseFormat, { type: 'json_object' })
    assert.match(asObject?.instruction ?? '', /"\$defs"/)
    const inWords = structuredOutputFor(hinted({ schema: tickets }), 'prompt')
    assert.equal(inWords?.responseFormat, undefined)
    assert.deepEqual(inWords?.read('```json\n[{"number":"1"}]\n```'), { value: [{ number: '1' }] })
  })

  it('may be any JSON, if the message asks for it: a client that accepts only JSON may still read text', () => {
    const structure = structuredOutputFor(hinted({ mimeType: 'application/json' }), 'json_schema')
    assert.deepEqual(structure?.responseFormat, { type: 'json_object' })
    assert.match(structure?.instruction ?? '', /JSON/)
    const accepting = turnWith({}, { acceptedOutputModes: ['application/json'] })
    assert.equal(structuredOutputFor(accepting, 'json_schema'), undefined)
  })
})
