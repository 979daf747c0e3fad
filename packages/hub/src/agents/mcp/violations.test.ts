import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Struct } from '@parley/a2a'
import { schemaViolations, describeViolations } from './parse-input.ts'

const schema: Struct = {
  type: 'object',
  properties: {
    a: { type: 'number', minimum: 1 },
    way: { type: 'string', enum: ['train', 'plane'] },
    place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
  required: ['a', 'place'],
  additionalProperties: false,
}

describe('what is wrong with arguments', () => {
  it('is said by the names of the fields', () => {
    assert.deepEqual(schemaViolations({ a: 1, place: { city: 'Rome' } }, schema), [])
    const fields = schemaViolations({ a: 'x', way: 'boat', place: {}, extra: 1 }, schema)
    assert.deepEqual(
      fields.map(({ field }) => field),
      ['a', 'way', 'place.city', 'extra'],
    )
    assert.match(
      describeViolations(fields),
      /^a is invalid \(.*number.*\); way is invalid .*; place\.city is missing; extra is not known$/,
    )
  })

  it('is left to the server where the schema cannot be read here', () => {
    assert.deepEqual(schemaViolations({ a: 1 }, { $ref: 'https://example.com/schema.json' }), [])
  })
})
