import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createOpenTaskQuota } from './open-task-quota.ts'

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
const roomOver = (...given: Parameters<typeof createOpenTaskQuota>) => {
  const room = createOpenTaskQuota(...given)
  return { enter: async (tenant: string, caller: string) => room.reserve(tenant, caller) }
}

describe('the open-task quota', () => {
  it('is for as many as the limit says, those that are open already among them', async () => {
    const room = roomOver(counting(3), 5)
    await room.enter('', 'alice')
    await room.enter('', 'alice')
    await assert.rejects(async () => room.enter('', 'alice'), limited)
  })

  it('is not had by coming all at once', async () => {
    const store = counting(0)
    const room = roomOver(store, 3)
    const tried = await Promise.allSettled(Array.from({ length: 20 }, () => room.enter('', 'alice')))
    assert.equal(tried.filter(({ status }) => status === 'fulfilled').length, 3)
  })

  it('is not had by coming before the last one’s task is in the log', async () => {
    const store = counting(0)
    const room = roomOver(store, 2)
    const leave = await room.enter('', 'alice')
    await room.enter('', 'alice')
    await assert.rejects(async () => room.enter('', 'alice'), limited)
    // The first opened its task, which has ended since.
    leave()
    await room.enter('', 'alice')
    await assert.rejects(async () => room.enter('', 'alice'), limited)
  })

  it('is each caller’s own, in each tenant', async () => {
    const room = roomOver(counting(0), 1)
    await room.enter('', 'alice')
    await room.enter('acme', 'alice')
    await room.enter('', 'bob')
    await assert.rejects(async () => room.enter('', 'bob'), limited)
  })

  it('is asked for in the store only now and then', async () => {
    const store = counting(0)
    const room = roomOver(store, 1_000)
    for (let task = 0; task < 999; task += 1) (await room.enter('', 'alice'))()
    assert.equal(store.asked, 1)
  })

  it('is looked for again after the store failed to say', async () => {
    let fails = true
    const room = roomOver({ countActive: async () => (fails ? Promise.reject(new Error('no')) : 0) }, 1)
    await assert.rejects(async () => room.enter('', 'alice'), /no/)
    fails = false
    await room.enter('', 'alice')
  })

  it('is unlimited without a limit, and the store is not queried', async () => {
    const store = counting(0)
    const room = roomOver(store, Infinity)
    for (let task = 0; task < 10; task += 1) await room.enter('', 'alice')
    assert.equal(store.asked, 0)
  })
})
