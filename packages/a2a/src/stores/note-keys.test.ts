import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareBytes, keyBytes, keyOf, lastOfEach, rangeOf } from './note-keys.ts'

describe('the keys of notes', () => {
  const keys = [
    '',
    'a',
    'é',
    '語',
    '😀',
    '\ufeffmark',
    'nul\0',
    '\ud83d',
    '\ude00',
    'a\ud83db',
    '\ude00\ud83d',
    '\uffff',
  ]

  it('come back as they were, with halves of surrogate pairs and all', () => {
    for (const key of keys) assert.equal(keyOf(keyBytes(key)), key, JSON.stringify(key))
    const all = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit))
    for (const key of all) assert.equal(keyOf(keyBytes(key)), key)
  })

  it('are UTF-8 wherever UTF-8 can say them', () => {
    for (const key of keys.filter((each) => each.isWellFormed())) {
      assert.deepEqual(Buffer.from(keyBytes(key)), Buffer.from(key))
    }
  })

  it('are in the order of their code points, in which halves have a place of their own', () => {
    const ordered = ['a', '\ud83d', '\ude00', '\uffff', '😀']
    assert.deepEqual(
      ordered.toReversed().sort((a, b) => compareBytes(keyBytes(a), keyBytes(b))),
      ordered,
    )
  })

  it('have up to 1,024 bytes', () => {
    assert.equal(keyBytes('é'.repeat(512)).length, 1_024)
    assert.throws(() => keyBytes('é'.repeat(513)), RangeError)
  })

  it('have a range for every list', () => {
    const shown = (query: Parameters<typeof rangeOf>[0]) => {
      const { from, until } = rangeOf(query)
      return [[...from], [...until]]
    }
    assert.deepEqual(shown({ limit: 1 }), [[], [255]])
    assert.deepEqual(shown({ prefix: 'b', limit: 1 }), [[98], [98, 255]])
    assert.deepEqual(shown({ prefix: 'b', after: 'bc', limit: 1 }), [
      [98, 99, 0],
      [98, 255],
    ])
    assert.deepEqual(shown({ prefix: 'b', after: 'a', limit: 1 }), [[98], [98, 255]])
    assert.deepEqual(shown({ prefix: 'b', after: 'bc', descending: true, limit: 1 }), [[98], [98, 99]])
    assert.deepEqual(shown({ prefix: 'b', after: 'c', descending: true, limit: 1 }), [[98], [98, 255]])
  })

  it('are written once each, in their order', () => {
    const given = ['b', 'a', 'b'].map((key, value) => ({ key, value }))
    assert.deepEqual(
      lastOfEach(given).map(({ note }) => note),
      [given[1], given[2]],
    )
  })
})
