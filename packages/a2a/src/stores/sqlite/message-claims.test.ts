import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { chunks, day0, newTaskFields } from '../../testing/store-contract/harness.ts'
import { openSqliteDatabase } from './database.ts'
import { sqliteStore } from './index.ts'
import { createSqliteMessageClaims } from './message-claims.ts'
import { migrateSqlite } from './migrate.ts'

const hour = 3_600_000

const insertTask = (id: string): string => `
  INSERT INTO tasks (head, consumed_seq, visible_seq, last_at, state, finished, fence, pushes, log_dropped, status_at, created_at,
    tenant, agent, owner, id, context_id, status)
  VALUES (0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, '', '', '', '${id}', 'x', '{}');`

/** A database with three tasks, `a`, `b` and `c`. */
function open(t: TestContext) {
  const database = openSqliteDatabase(':memory:', 0)
  t.after(() => database.close())
  migrateSqlite(database, 0)
  for (const id of ['a', 'b', 'c']) database.exec(insertTask(id))
  const count = (table: string): number =>
    database.prepare<{ n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1
  return { database, messages: createSqliteMessageClaims(database), count }
}

const claim = (key: string, ttlMs = 1_000) => ({ key, hash: `hash of ${key}`, ttlMs })

describe('message claims', () => {
  it('are the same after sealing, twice, and for the next process that opens the file', (t) => {
    const { database, messages, count } = open(t)
    const keys = Array.from({ length: 300 }, (_, n) => `message ${n}`)
    for (const [n, key] of keys.entries()) {
      assert.equal(messages.claim(claim(key), 'abc'[n % 3] as string, 0), undefined)
      if (n % 100 === 99) messages.seal(0)
    }
    assert.deepEqual([count('messages'), count('sealed_messages'), count('message_generations')], [0, 300, 3])
    messages.claim(claim('one more'), 'a', 0)
    for (const each of [messages, createSqliteMessageClaims(database)]) {
      for (const [n, key] of keys.entries()) {
        const held = { taskId: 'abc'[n % 3], hash: `hash of ${key}` }
        assert.deepEqual(each.find(key, 0), held)
        assert.deepEqual(each.claim(claim(key), 'c', 0), held)
        assert.equal(each.find(key, 1_000), undefined)
      }
      assert.deepEqual(each.find('one more', 0), { taskId: 'a', hash: 'hash of one more' })
      assert.equal(each.find('never claimed', 0), undefined)
    }
  })

  it('point to the latest task, if the first had expired', (t) => {
    const { messages } = open(t)
    messages.claim(claim('m', 10), 'a', 0)
    messages.seal(0)
    messages.claim(claim('m', 10), 'b', 10)
    messages.claim(claim('m', 10), 'c', 20)
    assert.equal(messages.find('m', 20)?.taskId, 'c')
    messages.seal(20)
    assert.equal(messages.find('m', 20)?.taskId, 'c')
    assert.equal(messages.find('m', 30), undefined)
  })

  it('are not given to two writers that both checked before the first was sealed', (t) => {
    const { messages } = open(t)
    for (let round = 0; round < 3; round += 1) {
      const key = `message ${round}`
      assert.equal(messages.find(key, 0), undefined)
      assert.equal(messages.claim(claim(key), 'a', 0), undefined)
      assert.equal(messages.claim(claim(key), 'b', 0)?.taskId, 'a')
      messages.seal(0)
      assert.equal(messages.claim(claim(key), 'b', 0)?.taskId, 'a')
    }
  })

  it('can be withdrawn', (t) => {
    const { messages } = open(t)
    messages.claim(claim('m'), 'a', 0)
    messages.unclaim(claim('m'))
    assert.equal(messages.find('m', 0), undefined)
    assert.equal(messages.claim(claim('m'), 'b', 0), undefined)
  })

  it('are swept with their generation, except for those that last longer', (t) => {
    const { messages, count } = open(t)
    messages.claim(claim('soon'), 'a', 0)
    messages.seal(0)
    messages.claim(claim('also soon'), 'a', 0)
    messages.claim(claim('for ever', Infinity), 'b', 0)
    messages.seal(0)
    messages.claim(claim('not sealed'), 'c', 0)
    assert.equal(messages.sweep(999, 100), 0)
    assert.equal(messages.sweep(1_000, 100), 2)
    assert.deepEqual([count('messages'), count('message_generations')], [0, 1])
    assert.equal(messages.sweep(25 * hour, 100), 1)
    assert.deepEqual(messages.find('for ever', 99 * hour), { taskId: 'b', hash: 'hash of for ever' })
    assert.equal(count('sealed_messages'), 1)
  })

  it('are swept a few generations at a time', (t) => {
    const { messages, count } = open(t)
    for (let n = 0; n < 40; n += 1) {
      messages.claim(claim(`message ${n}`), 'a', 0)
      if (n % 10 === 9) messages.seal(0)
    }
    assert.equal(messages.sweep(1_000, 15), 20)
    assert.deepEqual([count('sealed_messages'), count('message_generations')], [20, 2])
    assert.equal(messages.sweep(1_000, 15), 20)
    assert.equal(messages.sweep(1_000, 15), 0)
  })

  it('are unchanged if sealing or sweeping was rolled back', (t) => {
    const { database, messages } = open(t)
    messages.claim(claim('sealed'), 'a', 0)
    messages.seal(0)
    messages.claim(claim('new'), 'b', 0)
    for (const undone of [() => messages.seal(0), () => messages.sweep(5_000, 100)]) {
      database.exec('BEGIN')
      messages.settle()
      undone()
      messages.claim(claim('undone'), 'c', 0)
      database.exec('ROLLBACK')
      messages.forget()
      assert.equal(messages.find('sealed', 0)?.taskId, 'a')
      assert.equal(messages.find('new', 0)?.taskId, 'b')
      assert.equal(messages.find('undone', 0), undefined)
    }
  })

  it('are unchanged if first another job was rolled back, and then all with it', (t) => {
    const { database, messages } = open(t)
    messages.claim(claim('m'), 'a', 0)
    database.exec('BEGIN')
    messages.settle()
    messages.seal(0)
    database.exec('SAVEPOINT job; ROLLBACK TO job')
    messages.forget()
    assert.equal(messages.find('m', 0)?.taskId, 'a')
    database.exec('ROLLBACK')
    messages.forget()
    assert.equal(messages.find('m', 0)?.taskId, 'a')
  })
})

describe('a store with many claims', () => {
  it('seals them gradually, and finds them all', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-'))
    const file = join(directory, 'tasks.db')
    let store = sqliteStore({ file, durability: 'normal', now: () => day0 })
    const ids = new Map<string, string>()
    for (let round = 0; round < 12; round += 1) {
      await Promise.all(
        Array.from({ length: 800 }, (_, n) => {
          const task = newTaskFields()
          const idempotency = { key: `${round}.${n}`, hash: 'h', ttlMs: 9 }
          ids.set(idempotency.key, task.id)
          return store.tasks.append(task.id, { expectedSeq: 0, create: task, records: chunks('a'), idempotency })
        }),
      )
    }
    const reader = openSqliteDatabase(file, 1_000)
    assert.ok((reader.prepare<{ n: number }>('SELECT count(*) AS n FROM sealed_messages').get()?.n ?? 0) > 0)
    reader.close()
    await store.close()
    store = sqliteStore({ file, durability: 'normal', now: () => day0 })
    for (const [key, taskId] of ids) assert.equal((await store.tasks.findMessage(key, day0))?.taskId, taskId)
    await store.close()
    rmSync(directory, { recursive: true })
  })
})
