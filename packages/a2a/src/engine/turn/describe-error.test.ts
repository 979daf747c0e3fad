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
