import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { toBase64 } from './read.ts'

describe('base64', () => {
  it('is read in the standard and the url-safe alphabet, padded or not [J-4]', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const standard = Buffer.from(bytes).toString('base64')
        const urlSafe = Buffer.from(bytes).toString('base64url')
        for (const text of [standard, standard.replace(/=+$/, ''), urlSafe]) assert.equal(toBase64(text), standard)
      }),
    )
  })

  for (const text of ['a', 'ab=', 'abc==', 'a===', '====', 'ab==cd==', 'a b=', 'äöü=', '+-==', 'aGk=\n', '<base64>']) {
    it(`is not ${JSON.stringify(text)} [B-39]`, () => assert.equal(toBase64(text), undefined))
  }

  it('of twenty megabytes does not overflow the stack', () => {
    const text = 'QUJD'.repeat(5_000_000)
    assert.equal(toBase64(text), text)
    assert.equal(toBase64(`${text}!!!!`), undefined)
  })
})
