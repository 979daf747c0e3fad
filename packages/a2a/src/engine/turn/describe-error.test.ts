import assert from 'node:assert/strict'
import { it } from 'node:test'
import { describeError } from './report-interpreter.ts'

it('an error whose cause cannot be read is described without it', () => {
  class Hostile extends Error {
    override get cause(): never {
      throw new Error('unreadable')
    }
  }
  assert.match(describeError(new Hostile('first')), /first/)
  const proxy = new Proxy({}, { getPrototypeOf: () => assert.fail('unreadable') })
  assert.equal(describeError(proxy), 'a value without text')
  assert.equal(describeError(undefined), 'undefined')
})

it('the text of a long error is cut, with each of its causes', () => {
  const error = new Error('x'.repeat(1_000_000), { cause: new Error(`the cause ${'y'.repeat(1_000_000)}`) })
  const text = describeError(error)
  assert.ok(text.length < 41_000)
  assert.match(text, /x… \(\d+ more characters\)\nCaused by: Error: the cause y+… \(\d+ more characters\)$/)
})
