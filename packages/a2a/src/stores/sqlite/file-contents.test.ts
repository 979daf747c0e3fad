/** What the contract cannot check: that the file has the right content once, and that errors stay isolated. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  assertAppended,
  chunk,
  chunks,
  createTask,
  createFinished,
  day0,
  moveTask,
  newTaskFields,
  recordTexts,
} from '../../testing/store-contract/harness.ts'
import type { Store } from '../store.ts'
import { openSqliteDatabase } from './database.ts'
import { sqliteStore } from './index.ts'

describe('the file of a SQLite store', () => {
  let directory = ''
  let file = ''
  let store: Store
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'parley-'))
    file = join(directory, 'tasks.db')
    store = sqliteStore({ file, durability: 'normal', now: () => day0 })
  })
  afterEach(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })

  function count(sql: string): number {
    const reader = openSqliteDatabase(file, 1_000)
    try {
      return reader.prepare<{ n: number }>(`SELECT ${sql} AS n`).get()?.n ?? 0
    } finally {
      reader.close()
    }
  }

  it('keeps the others when one append of a group cannot be written', async () => {
    const [good, bad, late] = [newTaskFields(), newTaskFields({ statusAt: day0 + 0.5 }), newTaskFields()]
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const results = await Promise.allSettled([
      store.tasks.append(good.id, { expectedSeq: 0, create: good, records: chunks('a') }),
      // A time that is not an integer: SQLite refuses the row after the message was already claimed.
      store.tasks.append(bad.id, {
        expectedSeq: 0,
        create: bad,
        records: chunks('x'),
        idempotency: { key: 'm', hash: 'h', ttlMs: 9 },
      }),
      store.tasks.append(late.id, { expectedSeq: 0, create: late, records: [{ at: day0, body: circular as never }] }),
      store.tasks.append(good.id, { expectedSeq: 1, records: chunks('b') }),
    ])
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(recordTexts(await store.tasks.read(good.id, 0)), ['a', 'b'])
    assert.equal(await store.tasks.load(bad.id), undefined)
    assert.equal(await store.tasks.findMessage('m', day0), undefined)
    assert.equal((await store.tasks.list({ tenant: 'acme', agent: 'echo', owner: 'alice', limit: 9 })).total, 1)
  })

  it('has one log row per append, whatever its size', async () => {
    const task = await createTask(store, {}, { records: chunks('a', 'b', 'c') })
    await assertAppended(store, task.id, { expectedSeq: 3, records: chunks('d', 'e') })
    assert.equal(count('(SELECT count(*) FROM log)'), 2)
  })

  it('stores the same large bytes once, and removes them with the last task that has them', async () => {
    const part = { raw: Buffer.alloc(150_000, 5).toString('base64') }
    await createFinished(store, { statusAt: day0 + 5 })
    for (const statusAt of [day0, day0 + 1]) {
      await createTask(store, { state: 'TASK_STATE_COMPLETED', statusAt }, { records: [chunk(part), chunk(part)] })
    }
    assert.equal(count('(SELECT count(*) FROM blobs)'), 1)
    assert.equal(count('(SELECT length(content) FROM blobs)'), 150_000)
    assert.ok(count('(SELECT max(length(records)) FROM log)') < 2_000)
    await store.prune({ finishedBefore: day0 + 1, batch: 10 })
    assert.equal(count('(SELECT count(*) FROM blobs)'), 1)
    await store.prune({ finishedBefore: day0 + 2, batch: 10 })
    assert.equal(count('(SELECT count(*) FROM blobs) + (SELECT count(*) FROM blob_uses)'), 0)
  })

  it('keeps long statuses and metadata out of the row that every append rewrites', async () => {
    const text = 'x'.repeat(50_000)
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text }] } as const
    await createTask(store, { metadata: { text }, status: { state: 'TASK_STATE_WORKING', message } })
    assert.ok(count('(SELECT length(status) + length(metadata) FROM tasks)') < 200)
  })

  it('has nothing of a removed task', async () => {
    for (let n = 0; n < 5; n += 1) {
      const part = { raw: Buffer.alloc(80_000, n).toString('base64') }
      const task = await createTask(store, { owner: `owner ${n}` }, { records: [chunk(part)] })
      await store.tasks.saveSnapshot(task.id, { seq: 1, task: { id: task.id, status: task.status }, internal: {} })
      await moveTask(store, task.id, 1, 'TASK_STATE_COMPLETED')
      await assertAppended(store, task.id, {
        expectedSeq: 2,
        records: [],
        idempotency: { key: task.id, hash: 'h', ttlMs: 0 },
      })
    }
    assert.equal(await store.prune({ maxTasks: 0, batch: 100 }), 5)
    for (const table of ['tasks', 'log', 'messages', 'counters', 'snapshots', 'blobs', 'blob_uses', 'pushes']) {
      assert.equal(count(`(SELECT count(*) FROM ${table})`), 0, table)
    }
  })
})
