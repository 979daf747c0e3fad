import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { assertAppended, chunk, chunks, createTask, recordTexts } from '../../testing/store-contract/harness.ts'
import type { Store, StoredTask } from '../store.ts'
import { sqliteStore } from './index.ts'

function open(t: TestContext): Store {
  const store = sqliteStore(':memory:')
  t.after(() => store.close())
  return store
}

async function loadStored({ tasks }: Store, id: string): Promise<StoredTask | undefined> {
  return tasks.loadStored?.(id)
}

describe('a task that is read at once', () => {
  it('has its row and its log, in one batch or in several', async (t) => {
    const store = open(t)
    const task = await createTask(store, { metadata: { a: 1 } }, { records: chunks('a', 'b') })
    for (const text of ['c', 'd']) {
      const { row, records, ...rest } = (await loadStored(store, task.id)) as StoredTask
      assert.deepEqual(row, await store.tasks.load(task.id))
      assert.deepEqual(records, await store.tasks.read(task.id, 0))
      assert.deepEqual(rest, {})
      await assertAppended(store, task.id, { expectedSeq: row.head, records: chunks(text) })
    }
    const stored = await loadStored(store, task.id)
    assert.deepEqual(recordTexts(stored?.records ?? []), ['a', 'b', 'c', 'd'])
    assert.equal(await loadStored(store, 'unknown'), undefined)
  })

  it('has the task of its snapshot while the snapshot ends with the log', async (t) => {
    const store = open(t)
    const { id, status } = await createTask(store, {}, { records: chunks('a') })
    const task = { id, status, metadata: { from: 'snapshot' } }
    await store.tasks.saveSnapshot(id, { seq: 1, task, internal: {} })
    const row = await store.tasks.load(id)
    assert.deepEqual(await loadStored(store, id), { row, task })
    await assertAppended(store, id, { expectedSeq: 1, records: chunks('b') })
    assert.deepEqual(await loadStored(store, id), { row: await store.tasks.load(id) })
  })

  it('has neither if they are long or have large bytes', async (t) => {
    const store = open(t)
    const raw = Buffer.alloc(100_000, 7).toString('base64')
    const long = 'x'.repeat(40_000)
    const oneBatch = await createTask(store, {}, { records: chunks(long + long) })
    const twoBatches = await createTask(store, {}, { records: chunks(long) })
    await assertAppended(store, twoBatches.id, { expectedSeq: 1, records: chunks(long) })
    const longSecond = await createTask(store, {}, { records: chunks('a') })
    await assertAppended(store, longSecond.id, { expectedSeq: 1, records: chunks(long + long) })
    const withBytes = await createTask(store, {}, { records: [chunk({ raw })] })
    const withSnapshot = await createTask(store, {}, { records: chunks('a') })
    for (const artifacts of [
      [{ artifactId: 'a', parts: [{ text: long + long }] }],
      [{ artifactId: 'a', parts: [{ raw }] }],
    ]) {
      const task = { id: withSnapshot.id, status: withSnapshot.status, artifacts }
      await store.tasks.saveSnapshot(withSnapshot.id, { seq: 1, task, internal: {} })
      for (const { id } of [oneBatch, twoBatches, longSecond, withBytes, withSnapshot])
        assert.deepEqual(await loadStored(store, id), { row: await store.tasks.load(id) })
    }
  })
})
