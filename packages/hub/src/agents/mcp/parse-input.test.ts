import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Struct } from '@parley/a2a'
import { parseInput, parseValue } from '@parley/a2a/internal'
import { parseCallArguments } from './parse-input.ts'

const schema: Struct = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    loud: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    more: {},
  },
}

describe('a word', () => {
  it('is what its schema says, and stays what it is where it cannot be that', () => {
    assert.deepEqual(
      [
        parseValue('12', { type: 'string' }),
        parseValue('12', { type: 'number' }),
        parseValue('a dozen', { type: 'number' }),
        parseValue('Yes', { type: 'boolean' }),
        parseValue('maybe', { type: 'boolean' }),
        parseValue('a, b', { type: 'array' }),
        parseValue('[1,2]', { type: 'array' }),
        parseValue('{"a":1}', { type: 'object' }),
        parseValue('null', { type: ['string', 'null'] }),
        parseValue('12', {}),
        parseValue('red', { enum: ['red', '12'] }),
        parseValue('12', { enum: ['red', '12'] }),
      ],
      ['12', 12, 'a dozen', true, 'maybe', ['a', 'b'], [1, 2], { a: 1 }, 'null', 12, 'red', '12'],
    )
  })
})

describe('what a tool is given in words', () => {
  const read = (text: string, wanted: readonly string[] = ['text']) => parseInput(text, schema, wanted)

  it('is JSON, pairs, a field to a line, or the one thing that is wanted', () => {
    assert.deepEqual(read('{"text":"hi","count":2}'), { text: 'hi', count: 2 })
    assert.deepEqual(read('text=hi count=2, loud=yes'), { text: 'hi', count: 2, loud: true })
    assert.deepEqual(read(`text="two \\"words\\"" tags='a,b'`), { text: 'two "words"', tags: ['a', 'b'] })
    assert.deepEqual(read('- text: two words\n\ncount: 2'), { text: 'two words', count: 2 })
    assert.deepEqual(read('Hello there, you'), { text: 'Hello there, you' })
    assert.deepEqual(read('"quoted"'), { text: 'quoted' })
    assert.deepEqual(read('7', ['count']), { count: 7 })
    assert.deepEqual(read('  '), {})
  })

  it('is a text where it only looks like pairs, and nothing where it could mean several', () => {
    assert.deepEqual(read('note: buy milk'), { text: 'note: buy milk' })
    assert.deepEqual(read('x=1 and text=2'), { text: 'x=1 and text=2' })
    assert.deepEqual(read('toString=1'), { text: 'toString=1' })
    assert.equal(read('hello', ['text', 'count']), undefined)
    assert.equal(read('hello', []), undefined)
  })

  it('may stand in brackets, by name or in the order of the fields', () => {
    const call = (text: string, wanted: readonly string[] = ['text']) => parseCallArguments(text, schema, wanted)
    assert.deepEqual(call(''), {})
    assert.deepEqual(call('"hi", 2'), { text: 'hi', count: 2 })
    assert.deepEqual(call('{"text":"hi"}'), { text: 'hi' })
    assert.deepEqual(call('text=hi, count=2'), { text: 'hi', count: 2 })
    assert.deepEqual(call('just words'), { text: 'just words' })
    assert.equal(call('1,2,3,4,5,6'), undefined)
  })
})
