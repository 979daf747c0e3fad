import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundOf, slopeOf } from './measure.ts'
import { runProgram } from './run-program.ts'

describe('the leak measurement', () => {
  it('ignores an outlier', () => {
    const points = [0, 1, 2, 3, 4, 5, 6].map((x) => [x, x === 3 ? 10_000 : 5 * x] as const)
    assert.equal(Math.round(slopeOf(points)), 5)
    assert.equal(slopeOf([]), 0)
  })

  it('reports unbounded growth, and accepts a bounded cache', async () => {
    const boundBytes = boundOf(1)
    const [leak, cache, nothing] = await runProgram('known-leaks')
    assert.ok((leak?.bytesEach ?? 0) > boundBytes, JSON.stringify(leak))
    assert.ok((cache?.bytesEach ?? Infinity) <= boundBytes, JSON.stringify(cache))
    assert.ok((nothing?.bytesEach ?? Infinity) <= boundBytes, JSON.stringify(nothing))
  })
})
