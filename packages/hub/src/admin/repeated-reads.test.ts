import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRepeatedReadFilter } from './admin-router.ts'

const look = {
  at: 0,
  event: 'admin',
  who: 'admin',
  operation: 'GET /admin/tasks',
  outcome: 'OK',
  status: 200,
  durationMs: 1,
} as const

describe('looking again', () => {
  it('is noted once a minute', () => {
    const isRepeated = createRepeatedReadFilter()
    assert.deepEqual(
      [0, 10, 59_999, 60_000, 60_001].map((at) => isRepeated({ ...look, at })),
      [false, true, true, false, true],
    )
  })

  it('does not filter reads of another resource or by another caller', () => {
    const isRepeated = createRepeatedReadFilter()
    for (const more of [{}, { who: 'ann' }, { task: 't-1' }, { task: 't-2' }, { operation: 'GET /admin/keys' }]) {
      assert.equal(isRepeated({ ...look, ...more }), false, JSON.stringify(more))
    }
  })

  it('is not what changes something, nor what was refused', () => {
    const isRepeated = createRepeatedReadFilter()
    for (const more of [{ operation: 'POST /admin/keys' }, { outcome: 'UNAUTHENTICATED' }] as const) {
      assert.equal(isRepeated({ ...look, ...more }), false)
      assert.equal(isRepeated({ ...look, ...more }), false)
    }
  })
})
