import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameDigest, decodeText, encodeText, toPostgresInteger } from './text-encoding.ts'

describe('names in columns', () => {
  it('come back as they were, also those that Postgres cannot keep', () => {
    for (const name of ['', 'plain', 'nul \0 in it', 'half \ud83d', '\u0001"looks like ours"', 'smile \u{1F600}']) {
      const text = encodeText(name)
      assert.ok(text.isWellFormed() && !text.includes('\0'))
      assert.equal(decodeText(text), name)
    }
    assert.equal(encodeText('plain'), 'plain')
  })
})

describe('names in indexes', () => {
  it('are as short as a uuid, and different where the names are', () => {
    assert.match(nameDigest('x'.repeat(10_000)), /^[0-9a-f]{32}$/)
    assert.notEqual(nameDigest('a', 'bc'), nameDigest('ab', 'c'))
    assert.equal(nameDigest('a', 'b'), nameDigest('a', 'b'))
  })
})

describe('times', () => {
  it('are whole numbers that the database and we can both count with', () => {
    assert.deepEqual([1.4, Infinity, 7].map(toPostgresInteger), [1, Number.MAX_SAFE_INTEGER, 7])
  })
})
