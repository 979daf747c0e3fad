/** What a process appended itself is handed to its reader of the feed from memory; what others appended is read from the log. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FullStore } from '@parley/a2a'
import {
  assertAppended,
  chunks,
  createTask,
  feedOf,
  noteRecords,
} from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()

describe('records of the feed in memory', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  /** A store keeps records from the first time that they are asked for. Returns the end of the feed. */
  async function follow(store: FullStore): Promise<number> {
    store.feed.takeRecords?.({ position: 0, tenant: '', agent: '', owner: '', taskId: '', firstSeq: 1, lastSeq: 1 })
    return store.feed.end()
  }

  it('are those of the log, also if the database raised their times, and are returned once', async () => {
    const store = database.open()
    const end = await follow(store)
    const task = await createTask(store, {}, { records: chunks('a') })
    const [early] = noteRecords('early')
    assert.ok(early !== undefined)
    await assertAppended(store, task.id, { expectedSeq: 1, records: [{ ...early, at: 0 }] })
    const entries = await feedOf(store, 2, end)
    const taken = entries.flatMap((entry) => store.feed.takeRecords?.(entry) ?? [])
    assert.equal(taken.length, 2)
    assert.deepEqual(taken, await store.tasks.read(task.id, 0))
    for (const entry of entries) assert.equal(store.feed.takeRecords?.(entry), undefined)
  })

  it('are not there for appends of another replica', async () => {
    const [here, there] = [database.open(), database.open()]
    const end = await follow(here)
    await createTask(there)
    const [entry] = await feedOf(here, 1, end)
    assert.ok(entry !== undefined)
    assert.equal(here.feed.takeRecords?.(entry), undefined)
  })

  it('are forgotten when a statement fails, because a failover may have lost them', async () => {
    let isDown = false
    const pool = {
      query: (query: Parameters<typeof database.pool.query>[0] & object) =>
        isDown ? Promise.reject(new Error('connection lost')) : database.pool.query(query as { text: string }),
      on: () => {},
      end: async () => {},
    }
    const store = database.open({ pool })
    const end = await follow(store)
    await createTask(store)
    const [entry] = await feedOf(store, 1, end)
    assert.ok(entry !== undefined)
    isDown = true
    await assert.rejects(async () => store.ready?.(), /connection lost/)
    isDown = false
    assert.equal(store.feed.takeRecords?.(entry), undefined)
  })
})
