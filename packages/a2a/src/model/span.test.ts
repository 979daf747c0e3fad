import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Struct } from './task.ts'
import { boundAttributes, boundName } from './record.ts'

describe('the attributes of a span', () => {
  it('are kept unchanged while they are small', () => {
    const small = { text: 'a', number: 1.5, yes: true, nothing: null, list: ['stop'], nested: { a: [1] } }
    assert.deepEqual(boundAttributes(small), small)
  })

  it('are truncated if long, and omitted if many', () => {
    const { long, deep } = boundAttributes({ long: 'x'.repeat(5_000), deep: { text: 'y'.repeat(5_000) } })
    assert.equal((long as string).length, 1_000)
    assert.equal((deep as string).length, 1_000)
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`a${index}`, index]))
    assert.equal(Object.keys(boundAttributes(many)).length, 32)
    const much = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a${index}`, 'x'.repeat(1_000)]))
    assert.ok(JSON.stringify(boundAttributes(much)).length < 8_500)
  })

  it('may be values that no log can store: they are omitted without an error', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    const odd = {
      cycle,
      big: 10n,
      call: () => 1,
      none: undefined,
      infinite: Infinity,
      dated: new Date(0),
      kept: 1,
    } as unknown as Struct
    assert.deepEqual(boundAttributes(odd), { dated: '1970-01-01T00:00:00.000Z', kept: 1 })
  })

  it('have no lone surrogate and no NUL, which databases refuse', () => {
    const { text } = boundAttributes({ text: `a\0${'x'.repeat(997)}😀` })
    assert.equal(text, `a\ufffd${'x'.repeat(997)}\ufffd`)
    assert.ok(boundName('\ud800').isWellFormed())
  })

  it('are accompanied by a truncated name', () => {
    assert.equal(boundName('x'.repeat(1_000)).length, 200)
    assert.equal(boundName(undefined), 'undefined')
  })
})
