import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { canonicalJson } from './canonical-json.ts'

describe('canonical JSON', () => {
  it('writes numbers, texts and literals as in RFC 8785 [B-30]', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001, -0],
      string: '€$\u000f\nA\'B"\\\\"/',
      literals: [null, true, false],
    }
    const expected =
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27,0],' +
      '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    assert.equal(canonicalJson(value), expected)
  })

  it('sorts keys by UTF-16 code units, as in RFC 8785, and not by code points [B-30]', () => {
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 }
    const keys = Object.keys(JSON.parse(canonicalJson(value)) as object)
    // An object lists whole numbers first, which is the expected order except for the line end.
    assert.deepEqual(keys, ['1', '\r', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'])
    assert.ok(canonicalJson(value).startsWith('{"\\r":2,"1":4,'))
  })

  it('is the same for equal values and parses back to the value', () => {
    const text = fc.string({ unit: 'binary' })
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('json'), { maxLength: 4 }),
        fc.dictionary(text, tie('json'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(json, (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value))
        const written = canonicalJson(plain)
        assert.deepEqual(JSON.parse(written), plain)
        assert.equal(canonicalJson(shuffled(plain)), written)
      }),
      { numRuns: 300 },
    )
  })

  it('refuses values without bytes: lone surrogates, and values that are not JSON', () => {
    for (const value of ['\ud800', { a: '\udc00' }, { '\ud800': 1 }, NaN, Infinity, [undefined], () => 1]) {
      assert.throws(() => canonicalJson(value), TypeError)
    }
  })
})

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, shuffled(one)])
  return Object.fromEntries(entries.reverse())
}
