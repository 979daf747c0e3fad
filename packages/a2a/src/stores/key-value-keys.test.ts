import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareBytes, keyToBytes, keyFromBytes, lastWritePerKey, keyRangeOf } from './key-value-keys.ts'

describe('key-value keys', () => {
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

  it('round-trip, including lone surrogates', () => {
    for (const key of keys) assert.equal(keyFromBytes(keyToBytes(key)), key, JSON.stringify(key))
    const all = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit))
    for (const key of all) assert.equal(keyFromBytes(keyToBytes(key)), key)
  })

  it('are UTF-8 if UTF-8 can encode them', () => {
    for (const key of keys.filter((each) => each.isWellFormed())) {
      assert.deepEqual(Buffer.from(keyToBytes(key)), Buffer.from(key))
    }
  })

  it('are in the order of their code points, including lone surrogates', () => {
    const ordered = ['a', '\ud83d', '\ude00', '\uffff', '😀']
    assert.deepEqual(
      ordered.toReversed().sort((a, b) => compareBytes(keyToBytes(a), keyToBytes(b))),
      ordered,
    )
  })

  it('have up to 1,024 bytes', () => {
    assert.equal(keyToBytes('é'.repeat(512)).length, 1_024)
    assert.throws(() => keyToBytes('é'.repeat(513)), RangeError)
  })

  it('have a range for every list', () => {
    const shown = (query: Parameters<typeof keyRangeOf>[0]) => {
      const { from, until } = keyRangeOf(query)
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

  it('are written once each, in order', () => {
    const given = ['b', 'a', 'b'].map((key, value) => ({ key, value }))
    assert.deepEqual(
      lastWritePerKey(given).map(({ entry }) => entry),
      [given[1], given[2]],
    )
  })
})
