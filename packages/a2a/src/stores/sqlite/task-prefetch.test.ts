import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { assertAppended, chunk, chunks, createTask, recordTexts } from '../../testing/store-contract/harness.ts'
import type { Store } from '../store.ts'
import { sqliteStore } from './index.ts'

function open(t: TestContext): Store {
  const store = sqliteStore(':memory:')
  t.after(() => store.close())
  return store
}

describe('a loaded task', () => {
  it('has its log prefetched, however often it is read', async (t) => {
    const store = open(t)
    const { id } = await createTask(store, {}, { records: chunks('a', 'b', 'c') })
    await store.tasks.load(id)
    assert.equal(await store.tasks.loadSnapshot(id), undefined)
    for (let time = 0; time < 2; time += 1)
      assert.deepEqual(recordTexts(await store.tasks.read(id, 0)), ['a', 'b', 'c'])
    await store.tasks.load(id)
    assert.deepEqual(recordTexts(await store.tasks.read(id, 1, 1)), ['b'])
    assert.deepEqual(recordTexts(await store.tasks.read(id, 0, 2)), ['a', 'b'])
  })

  it('has later appends', async (t) => {
    const store = open(t)
    const { id, status } = await createTask(store, {}, { records: chunks('a') })
    await store.tasks.load(id)
    await assertAppended(store, id, { expectedSeq: 1, records: chunks('b') })
    assert.deepEqual(recordTexts(await store.tasks.read(id, 0)), ['a', 'b'])
    await store.tasks.load(id)
    await store.tasks.saveSnapshot(id, { seq: 1, task: { id, status }, internal: {} })
    assert.equal((await store.tasks.loadSnapshot(id))?.seq, 1)
    assert.deepEqual(recordTexts(await store.tasks.read(id, 0)), ['a', 'b'])
  })

  it('has the whole log, in several batches, or in one that is long or has large bytes', async (t) => {
    const store = open(t)
    const several = await createTask(store, {}, { records: chunks('a') })
    await assertAppended(store, several.id, { expectedSeq: 1, records: chunks('b') })
    const long = await createTask(store, {}, { records: chunks('x'.repeat(100_000)) })
    const raw = Buffer.alloc(100_000, 7).toString('base64')
    const large = await createTask(store, {}, { records: [chunk({ raw })] })
    for (const { id } of [several, long, large]) await store.tasks.load(id)
    assert.deepEqual(recordTexts(await store.tasks.read(several.id, 0)), ['a', 'b'])
    assert.equal(recordTexts(await store.tasks.read(long.id, 0))[0]?.length, 100_000)
    assert.ok(JSON.stringify(await store.tasks.read(large.id, 0)).includes(raw))
  })
})
