/** What a process appended itself is handed to its reader of the feed from memory; what others appended is read from the log. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { FeedEntry, FullStore } from '@parley/a2a/stores'
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
    const end = await store.feed.end()
    await store.feed.read(end, 1)
    return end
  }

  /** The entries after a position, once the feed has so many: a row is in the feed when no older transaction is open. */
  async function take(store: FullStore, count: number, after: number): Promise<readonly FeedEntry[]> {
    await feedOf(store, count, after)
    return store.feed.read(after, 100)
  }

  it('are those of the log, also if the database raised their times', async () => {
    const store = database.open()
    const end = await follow(store)
    const task = await createTask(store, {}, { records: chunks('a') })
    const [early] = noteRecords('early')
    assert.ok(early !== undefined)
    await assertAppended(store, task.id, { expectedSeq: 1, records: [{ ...early, at: 0 }] })
    const taken = (await take(store, 2, end)).flatMap(({ records = [] }) => records)
    assert.equal(taken.length, 2)
    assert.deepEqual(taken, await store.tasks.read(task.id, 0))
  })

  it('are not there for appends of another replica', async () => {
    const [here, there] = [database.open(), database.open()]
    const end = await follow(here)
    await createTask(there)
    const [entry] = await take(here, 1, end)
    assert.ok(entry !== undefined)
    assert.equal(entry.records, undefined)
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
    const [before] = await take(store, 1, end)
    assert.ok(before?.records !== undefined)
    isDown = true
    await assert.rejects(async () => store.ready?.(), /connection lost/)
    isDown = false
    const [after] = await take(store, 1, end)
    assert.equal(after?.records, undefined)
  })
})
