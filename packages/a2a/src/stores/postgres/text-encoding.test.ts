import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameDigest, decodeText, encodeText, toPostgresInteger } from './text-encoding.ts'

describe('names in columns', () => {
  it('round-trip, including those that Postgres cannot store', () => {
    for (const name of ['', 'plain', 'nul \0 in it', 'half \ud83d', '\u0001"looks like ours"', 'smile \u{1F600}']) {
      const text = encodeText(name)
      assert.ok(text.isWellFormed() && !text.includes('\0'))
      assert.equal(decodeText(text), name)
    }
    assert.equal(encodeText('plain'), 'plain')
  })
})

describe('names in indexes', () => {
  it('are as short as a uuid, and distinct for distinct names', () => {
    assert.match(nameDigest('x'.repeat(10_000)), /^[0-9a-f]{32}$/)
    assert.notEqual(nameDigest('a', 'bc'), nameDigest('ab', 'c'))
    assert.equal(nameDigest('a', 'b'), nameDigest('a', 'b'))
  })
})

describe('times', () => {
  it('are integers that both the database and JavaScript can represent', () => {
    assert.deepEqual([1.4, Infinity, 7].map(toPostgresInteger), [1, Number.MAX_SAFE_INTEGER, 7])
  })
})
