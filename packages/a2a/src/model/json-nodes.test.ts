import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { exceedsJsonNodes, JsonMeter, measureJson } from './json-nodes.ts'

/** The slow way, over the parsed value. */
function sizeOf(value: unknown): { nodes: number; depth: number } {
  if (typeof value !== 'object' || value === null) return { nodes: 1, depth: 0 }
  const inner = Object.values(value).map(sizeOf)
  return {
    nodes: inner.reduce((sum, { nodes }) => sum + nodes, 1),
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
  }
}

const hardStrings = fc.string({
  unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', ' ', 'a', 'é', '😀', '\n', '\u0000'),
  maxLength: 80,
})
const anyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, false, 0, -1.5e-7, 1e300),
    hardStrings,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(fc.oneof(hardStrings, fc.constant('__proto__')), tie('value'), { maxKeys: 6 }),
  ),
})).value

describe('the count of JSON values', () => {
  it('agrees with a count over the parsed value', () => {
    fc.assert(
      fc.property(anyJson, fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        assert.deepEqual(measureJson(text, Infinity), sizeOf(JSON.parse(text)))
      }),
      { numRuns: 2_000 },
    )
  })

  it('stops at the limit, and not before it', () => {
    fc.assert(
      fc.property(anyJson, fc.integer({ min: 1, max: 40 }), (value, limit) => {
        const text = JSON.stringify(value)
        const { nodes } = sizeOf(JSON.parse(text))
        assert.equal(exceedsJsonNodes(text, limit), nodes > limit)
        assert.equal(measureJson(text, limit).nodes, Math.min(nodes, limit + 1))
      }),
      { numRuns: 2_000 },
    )
  })

  it('does not read a text that is too short to have so many', () => {
    // n values in the fewest characters: an array of digits.
    const dense = (nodes: number): string => `[${'0,'.repeat(nodes - 2)}0]`
    assert.equal(dense(1_000).length, 1_999)
    assert.equal(exceedsJsonNodes(dense(1_000), 1_000), false)
    assert.equal(exceedsJsonNodes(dense(1_001), 1_000), true)
  })

  it('counts a duplicate key as often as it occurs, a huge number as one, and tolerates invalid JSON', () => {
    assert.equal(measureJson('{"a":1,"a":2,"a":3}', Infinity).nodes, 4)
    assert.equal(measureJson(`[${'9'.repeat(100_000)},0.${'1'.repeat(100_000)}]`, Infinity).nodes, 3)
    assert.deepEqual(measureJson('', 10), { nodes: 0, depth: 0 })
    for (const text of [
      '"',
      '"\\',
      '"a\\"',
      '[',
      '[[[',
      ']]]',
      '{,,,',
      '[ ',
      'nonsense',
      `"${'x'.repeat(100)}`,
      '\ud800',
    ]) {
      assert.ok(measureJson(text, 2).nodes <= 3, text)
    }
  })

  it('is not confused by quotes and backslashes in long strings', () => {
    for (let length = 0; length < 70; length++) {
      for (const tail of ['\\\\', '\\\\\\"', '\\"', '\\"\\\\', '\\u0022', ',[{']) {
        const text = `["${'x'.repeat(length)}${tail}",1,"${tail}"]`
        assert.deepEqual(measureJson(text, Infinity), sizeOf(JSON.parse(text)), text)
      }
    }
  })

  it('is the same for a text in chunks, wherever it is cut', () => {
    fc.assert(
      fc.property(anyJson, fc.array(fc.nat(200)), fc.integer({ min: 1, max: 40 }), (value, cuts, limit) => {
        const text = JSON.stringify(value)
        const meter = new JsonMeter(Infinity)
        const bounded = new JsonMeter(limit)
        let at = 0
        for (const length of [...cuts, text.length]) {
          meter.feed(text.slice(at, at + length))
          if (!bounded.isExceeded) bounded.feed(text.slice(at, at + length))
          at += length
        }
        const { nodes, depth } = meter
        assert.deepEqual({ nodes, depth }, sizeOf(JSON.parse(text)))
        assert.equal(bounded.isExceeded, nodes > limit)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is not hidden by a quote in another line', () => {
    const meter = new JsonMeter(5)
    meter.feed(': a comment with one "')
    meter.endLine()
    meter.feed('data: [1,2,3,4,5]')
    assert.equal(meter.isExceeded, true)
  })
})
