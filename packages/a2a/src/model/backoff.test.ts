import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { backoffMs, jittered } from './backoff.ts'

describe('the delay before a retry', () => {
  it('doubles up to the longest, also after very many failures', () => {
    const latest = [1, 2, 3, 4, 5, 6, 99, 5_000].map((failures) => backoffMs(failures, 20, 500, () => 1))
    assert.deepEqual(latest, [20, 40, 80, 160, 320, 500, 500, 500])
  })

  it('is at least half of that', () => {
    assert.equal(
      backoffMs(3, 20, 500, () => 0),
      40,
    )
  })

  it('that is planned is up to a quarter shorter or longer', () => {
    assert.deepEqual(
      [0, 0.5, 1].map((drawn) => jittered(1_000, () => drawn)),
      [750, 1_000, 1_250],
    )
  })
})
