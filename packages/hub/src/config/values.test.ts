/** The value grammars: accepted inputs, parsed values and error messages. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ZodType } from 'zod'
import { duration, durationOrNone, durationOrOff, httpUrl, rate, size } from './values.ts'

const complaintOf = (schema: ZodType, value: unknown): string | undefined =>
  schema
    .safeParse(value)
    .error?.issues.map(({ message }) => message)
    .join('; ')

describe('a duration', () => {
  it('has a number and a unit', () => {
    const read = ['250ms', '30s', '1.5m', '12h', '30d'].map((text) => duration.parse(text))
    assert.deepEqual(read, [250, 30_000, 90_000, 43_200_000, 2_592_000_000])
  })

  it('is never guessed', () => {
    for (const wrong of ['30', 30, '', 's', '30 s', '-1s', '1w', null]) {
      assert.match(complaintOf(duration, wrong) ?? '', /^must be a duration with its unit/, String(wrong))
    }
  })

  it('may be none where there may be none', () => {
    assert.equal(durationOrNone.parse('none'), Infinity)
    assert.equal(durationOrNone.parse('5m'), 300_000)
    assert.match(complaintOf(durationOrNone, 'never') ?? '', /, or none$/)
  })

  it('may be off where it may be off', () => {
    assert.deepEqual([durationOrOff.parse('off'), durationOrOff.parse('10m')], [0, 600_000])
    for (const wrong of ['none', false, 0]) assert.match(complaintOf(durationOrOff, wrong) ?? '', /, or off$/)
  })
})

describe('a duration of more than a hundred years', () => {
  for (const [name, schema] of Object.entries({ duration, durationOrNone, durationOrOff }))
    it(`is refused by ${name}, because a time that much later may be no date`, () => {
      assert.equal(schema.parse('36500d'), 36_500 * 86_400_000)
      assert.equal(complaintOf(schema, '254740993d'), 'must be at most 36500d')
    })
})

describe('a rate', () => {
  it('is so many in each such time', () => {
    assert.deepEqual(rate.parse('60/min'), { count: 60, windowMs: 60_000 })
    assert.deepEqual(rate.parse('10/s'), { count: 10, windowMs: 1_000 })
    assert.deepEqual(rate.parse('1000/h'), { count: 1_000, windowMs: 3_600_000 })
    assert.deepEqual(rate.parse('5000/day'), { count: 5_000, windowMs: 86_400_000 })
    assert.deepEqual(rate.parse('5/10s'), { count: 5, windowMs: 10_000 })
    assert.deepEqual(rate.parse('7/d'), rate.parse('7/day'))
  })

  it('says how it is written', () => {
    for (const wrong of ['60', '0/min', '60/minute', 60, 'min']) {
      assert.match(complaintOf(rate, wrong) ?? '', /^must be a rate such as/, String(wrong))
    }
  })
})

describe('a size', () => {
  it('is a number of bytes, or has a unit', () => {
    assert.deepEqual(
      [1_000, '500B', '1.5kB', '20MB', '1GB'].map((text) => size.parse(text)),
      [1_000, 500, 1_500, 20_000_000, 1_000_000_000],
    )
    for (const wrong of ['20', '20 MB', -1, '20mb']) assert.match(complaintOf(size, wrong) ?? '', /must be a size/)
  })
})

describe('a url', () => {
  it('is absolute, and http or https', () => {
    assert.equal(httpUrl.parse('https://example.com/x'), 'https://example.com/x')
    assert.equal(httpUrl.parse('127.0.0.1:8080/x'), 'http://127.0.0.1:8080/x')
    assert.equal(httpUrl.parse('example.com:8443'), 'https://example.com:8443')
    for (const wrong of ['example.com', 'ftp://example.com', 'https://', 3]) {
      assert.match(complaintOf(httpUrl, wrong) ?? '', /^(give|must be) a/, String(wrong))
    }
  })
})
