import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOpenTaskQuota } from './accept-message.ts'

/** A store that knows how many tasks are open, and counts its queries. */
function counting(active = 0) {
  const store = {
    active,
    asked: 0,
    async countActive(): Promise<number> {
      store.asked += 1
      const { active } = store
      await Promise.resolve()
      return active
    },
  }
  return store
}
const limited = { code: 'RATE_LIMITED' }
/** An admission without a query of the store is synchronous; the tests accept both. */
const quotaOver = (...given: Parameters<typeof createOpenTaskQuota>) => {
  const quota = createOpenTaskQuota(...given)
  return {
    enter: async (tenant: string, id: string, limitedAs?: string) =>
      quota.reserve(tenant, { id, ...(limitedAs === undefined ? {} : { limitedAs }) }),
  }
}

describe('the open-task quota', () => {
  it('admits up to the limit, including tasks that are already open', async () => {
    const quota = quotaOver(counting(3), 5)
    await quota.enter('', 'alice')
    await quota.enter('', 'alice')
    await assert.rejects(async () => quota.enter('', 'alice'), limited)
  })

  it('is not exceeded by concurrent requests', async () => {
    const store = counting(0)
    const quota = quotaOver(store, 3)
    const tried = await Promise.allSettled(Array.from({ length: 20 }, () => quota.enter('', 'alice')))
    assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 3)
  })

  it('is not exceeded by requests before the last task is in the log', async () => {
    const store = counting(0)
    const quota = quotaOver(store, 2)
    const leave = await quota.enter('', 'alice')
    await quota.enter('', 'alice')
    await assert.rejects(async () => quota.enter('', 'alice'), limited)
    // The first opened its task, which has ended since.
    leave()
    await quota.enter('', 'alice')
    await assert.rejects(async () => quota.enter('', 'alice'), limited)
  })

  it('is separate for each caller and tenant', async () => {
    const quota = quotaOver(counting(0), 1)
    await quota.enter('', 'alice')
    await quota.enter('acme', 'alice')
    await quota.enter('', 'bob')
    await assert.rejects(async () => quota.enter('', 'bob'), limited)
  })

  it('is one for callers that are limited as one, with the tasks that each of them has', async () => {
    const active: Readonly<Record<string, number>> = { alice: 1, 'key:1': 1, 'key:2': 2 }
    const quota = quotaOver({ countActive: async (_, caller) => active[caller] ?? 0 }, 6)
    await quota.enter('', 'key:1', 'alice')
    await quota.enter('', 'alice')
    await assert.rejects(
      async () => Promise.all(['key:2', 'key:2', 'key:2'].map((key) => quota.enter('', key, 'alice'))),
      limited,
    )
    await assert.rejects(async () => quota.enter('', 'alice'), limited)
    await quota.enter('', 'key:2')
  })

  it('is asked for in the store only now and then', async () => {
    const store = counting(0)
    const quota = quotaOver(store, 1_000)
    for (let task = 0; task < 999; task += 1) (await quota.enter('', 'alice'))()
    assert.equal(store.asked, 1)
  })

  it('is looked for again after the store failed to say', async () => {
    let fails = true
    const quota = quotaOver({ countActive: async () => (fails ? Promise.reject(new Error('no')) : 0) }, 1)
    await assert.rejects(async () => quota.enter('', 'alice'), /no/)
    fails = false
    await quota.enter('', 'alice')
  })

  it('is unlimited without a limit, and the store is not queried', async () => {
    const store = counting(0)
    const quota = quotaOver(store, Infinity)
    for (let task = 0; task < 10; task += 1) await quota.enter('', 'alice')
    assert.equal(store.asked, 0)
  })
})
