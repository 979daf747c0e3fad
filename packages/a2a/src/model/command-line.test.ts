import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { neutralize } from './command-line.ts'

const points = (from: number, to = from): string =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index)).join('')

describe('neutralize', () => {
  it('escapes control characters, and characters that reorder or hide text', () => {
    const hostile = [
      points(0, 8) + points(0x0b, 0x1f),
      points(0x7f, 0x9f),
      points(0x200e, 0x200f) + points(0x202a, 0x202e) + points(0x2066, 0x2069) + points(0x061c),
      points(0x2028, 0x2029) + points(0x200b) + points(0x2060, 0x2064) + points(0xfeff) + points(0xad),
      points(0xe0001) + points(0xe0020, 0xe007f),
    ]
    for (const text of hostile) {
      const safe = neutralize(text)
      assert.match(safe, /^(\\u[0-9a-f]{4})+$/)
      assert.equal(JSON.parse(`"${safe}"`), text)
      assert.equal(neutralize(safe), safe)
    }
    assert.equal(neutralize('a\u001b[31m\u009b2J\u202e!'), 'a\\u001b[31m\\u009b2J\\u202e!')
  })

  it('keeps lines, tabs and the text of every script', () => {
    const text = 'a\tb\nüç 漢字 שלום می‌خواهم 👩‍👩‍👧 ❤️ € \ud800'
    assert.equal(neutralize(text), text)
  })
})
