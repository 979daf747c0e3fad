import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore } from '@parley/a2a/stores'
import { createTaskQuota } from './task-quota.ts'

const noon = Date.UTC(2030, 0, 31, 12)
const midnight = Date.UTC(2030, 1, 1)

describe('a quota of tasks a day', () => {
  it('is shared by replicas, and ends with the day', async () => {
    let now = noon
    const kv = memoryKeyValueStore(() => now)
    const [here, there] = [createTaskQuota(kv, () => now), createTaskQuota(kv, () => now)]
    assert.deepEqual([(await here.charge('k', 3)).remaining, (await there.charge('k', 3)).remaining], [2, 1])
    assert.equal((await here.charge('k', 3)).isAllowed, true)
    const over = await there.charge('k', 3)
    assert.deepEqual([over.isAllowed, over.remaining, over.resetAt], [false, 0, midnight])
    assert.equal((await there.charge('other', 3)).isAllowed, true)
    now = midnight
    assert.equal((await here.charge('k', 3)).remaining, 2)
  })

  it('lets no more through than it says, however many come at once', async () => {
    const quota = createTaskQuota(memoryKeyValueStore())
    const counted = await Promise.all(Array.from({ length: 50 }, () => quota.charge('k', 7)))
    assert.equal(counted.filter(({ isAllowed }) => isAllowed).length, 7)
  })

  it('is given back once for a call that opened nothing, and not used by one that was refused', async () => {
    const quota = createTaskQuota(memoryKeyValueStore())
    const first = await quota.charge('k', 1)
    for (let count = 0; count < 5; count++) assert.equal((await quota.charge('k', 1)).isAllowed, false)
    await first.refund()
    await first.refund()
    assert.equal((await quota.charge('k', 1)).isAllowed, true)
    assert.equal((await quota.charge('k', 1)).isAllowed, false)
  })
})
