import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sha256Hex, isSameSecret, keyIdOf, generateKey, publicKeyPrefix } from './key-format.ts'

describe('a key', () => {
  it('is known by its looks, begins with what may be shown, and no two are the same', () => {
    const made = Array.from({ length: 200 }, () => generateKey())
    assert.equal(new Set(made.map(({ key }) => key)).size, 200)
    for (const { id, key } of made) {
      assert.match(key, /^pk_[0-9A-Za-z]{12}_[0-9A-Za-z]{38}$/)
      assert.ok(key.startsWith(`${publicKeyPrefix(id)}_`))
      assert.equal(keyIdOf(key), id)
    }
  })

  it('that was mistyped is none', () => {
    const { key } = generateKey()
    for (let at = 0; at < key.length; at++) {
      const other = key[at] === 'x' ? 'y' : 'x'
      assert.equal(keyIdOf(key.slice(0, at) + other + key.slice(at + 1)), undefined)
    }
    for (const text of ['', 'pk_', key.slice(0, -1), `${key}x`, ` ${key}`, `${key}\n`, generateKey('pka').key]) {
      assert.equal(keyIdOf(text), undefined)
    }
    assert.equal(keyIdOf(generateKey('pka').key), undefined, 'an admin key is no API key')
  })

  it('is kept as a hash of which nothing can be read', () => {
    const { key } = generateKey()
    assert.match(sha256Hex(key), /^[0-9a-f]{64}$/)
    assert.ok(isSameSecret(sha256Hex(key), sha256Hex(key)))
    assert.ok(!isSameSecret(sha256Hex(key), sha256Hex(`${key}x`)))
    assert.ok(!isSameSecret(sha256Hex(key), ''))
  })
})
