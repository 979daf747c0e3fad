import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { boundBytes, slopeOf } from './measure.ts'
import { runProgram } from './run-program.ts'

describe('what measures leaks', () => {
  it('is not misled by a point that is far off', () => {
    const points = [0, 1, 2, 3, 4, 5, 6].map((x) => [x, x === 3 ? 10_000 : 5 * x] as const)
    assert.equal(Math.round(slopeOf(points)), 5)
    assert.equal(slopeOf([]), 0)
  })

  it('finds what grows for good, and lets a cache with a bound be', async () => {
    const [leak, cache, nothing] = await runProgram('known-leaks')
    assert.ok((leak?.bytesEach ?? 0) > boundBytes, JSON.stringify(leak))
    assert.ok((cache?.bytesEach ?? Infinity) <= boundBytes, JSON.stringify(cache))
    assert.ok((nothing?.bytesEach ?? Infinity) <= boundBytes, JSON.stringify(nothing))
  })
})
