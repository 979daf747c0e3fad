import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type Json } from '@parley/a2a'
import type { KeyValueStore } from '@parley/a2a/stores'
import { timeOfKey } from './audit-key.ts'
import { auditKind, createAuditLog, type AuditEntry } from './audit-log.ts'
import { createAuditReader, maxLateMs, settleMs, type AuditReader } from './audit-reader.ts'

const day = Date.UTC(2030, 0, 1)

function keyAt(ms: number, n: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}

function entries(...names: readonly string[]): readonly AuditEntry[] {
  return names.map((task) => ({ at: day, event: 'call', task }))
}

function add(kv: KeyValueStore, key: string, ...names: readonly string[]): Promise<void> {
  return kv.writeAll(auditKind, [{ key, value: entries(...names) as unknown as Json }])
}

/** Reads until the end; returns the tasks of the entries and the last cursor. */
async function readAll(reader: AuditReader, from: string, limit = 3) {
  const tasks: (string | undefined)[] = []
  let cursor = from
  for (;;) {
    const page = await reader.read(cursor, limit)
    tasks.push(...page.entries.map(({ task }) => task))
    cursor = page.cursor
    if (page.isEnd) return { tasks, cursor }
  }
}

describe('reading the audit forward', () => {
  it('returns every entry once and in order, whatever the size of the pages', async () => {
    const { kv } = memoryStore()
    const reader = createAuditReader({ kv, now: () => day, isShared: false })
    await add(kv, keyAt(day, 1), 'a', 'b', 'c', 'd')
    await add(kv, keyAt(day, 2), 'e')
    await add(kv, keyAt(day + 5, 3), 'f', 'g')
    for (const limit of [1, 2, 3, 4, 5, 100])
      assert.deepEqual((await readAll(reader, reader.start(), limit)).tasks, ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  })

  it('continues after its cursor with what was added since', async () => {
    const { kv } = memoryStore()
    const reader = createAuditReader({ kv, now: () => day, isShared: false })
    await add(kv, keyAt(day, 1), 'a')
    const { cursor } = await readAll(reader, reader.start())
    assert.equal(await reader.oldestAfter(cursor), undefined)
    await add(kv, keyAt(day + 7, 2), 'b')
    assert.equal(await reader.oldestAfter(cursor), day + 7)
    assert.deepEqual((await readAll(reader, cursor)).tasks, ['b'])
  })

  it('starts with the batches of a time', async () => {
    const { kv } = memoryStore()
    const reader = createAuditReader({ kv, now: () => day, isShared: false })
    await add(kv, keyAt(day, 1), 'a')
    await add(kv, keyAt(day + 1_000, 2), 'b')
    assert.deepEqual((await readAll(reader, reader.start(day + 1))).tasks, ['b'])
  })

  it('refuses a text that is not a cursor', async () => {
    const { kv } = memoryStore()
    const reader = createAuditReader({ kv, now: () => day, isShared: false })
    await assert.rejects(reader.read('elsewhere', 1), RangeError)
  })
})

describe('reading the audit of several replicas', () => {
  it('waits until a batch is old enough, so that a slower writer comes in order', async () => {
    let time = day
    const { kv } = memoryStore({ now: () => time })
    const reader = createAuditReader({ kv, now: () => time, isShared: true })
    const start = reader.start()
    await add(kv, keyAt(day, 2), 'second')
    assert.deepEqual((await readAll(reader, start)).tasks, [])
    time += settleMs - 1
    // The clock of this writer is late, or its write took long.
    await add(kv, keyAt(day - 5_000, 1), 'first')
    time += 1
    assert.deepEqual((await readAll(reader, start)).tasks, ['first', 'second'])
  })

  it('returns a batch that was stored behind the cursor', async () => {
    let time = day
    const { kv } = memoryStore({ now: () => time })
    const reader = createAuditReader({ kv, now: () => time, isShared: true })
    await add(kv, keyAt(day, 1), 'early')
    time += settleMs
    let { tasks, cursor } = await readAll(reader, reader.start())
    assert.deepEqual(tasks, ['early'])
    // A minute late: its key is before the cursor.
    time += 60_000
    await add(kv, keyAt(day - 30_000, 0), 'late')
    await add(kv, keyAt(time, 2), 'next')
    time += settleMs
    ;({ tasks, cursor } = await readAll(reader, cursor))
    assert.deepEqual(tasks, ['next'])
    time += maxLateMs
    ;({ tasks, cursor } = await readAll(reader, cursor))
    assert.deepEqual(tasks, ['late'])
    time += maxLateMs
    ;({ tasks, cursor } = await readAll(reader, cursor))
    assert.deepEqual(tasks, [])
  })
})

describe('a replica that is paused while it writes', () => {
  it('writes again with new keys, so that the entries are returned', async () => {
    let time = day
    let keys = 0
    const { kv } = memoryStore({ now: () => time })
    const reader = createAuditReader({ kv, now: () => time, isShared: true })
    let cursor = reader.start()
    const tasks: (string | undefined)[] = []
    const read = async (): Promise<void> => {
      const page = await readAll(reader, cursor)
      cursor = page.cursor
      tasks.push(...page.tasks)
    }
    /** Long enough that the second reading of another replica passes the key of the write. */
    const pause = async (): Promise<void> => {
      for (const name of ['early', 'next']) {
        await add(kv, keyAt((time += 1), (keys += 1)), name)
        time += maxLateMs + settleMs
        await read()
      }
    }
    let isPaused = true
    const writeAll: KeyValueStore['writeAll'] = async (kind, batches) => {
      if (isPaused) await pause()
      isPaused = false
      await kv.writeAll(kind, batches)
    }
    const retentionMs = 86_400_000
    const newKey = (): string => keyAt(time, (keys += 1))
    const audit = createAuditLog({ kv: { ...kv, writeAll }, now: () => time, newKey, retentionMs })
    audit.record({ at: time, event: 'call', task: 'delayed' })
    await audit.flush()
    assert.deepEqual(tasks, ['early', 'next'])
    time += settleMs
    await read()
    time += maxLateMs + settleMs
    await read()
    assert.deepEqual(tasks, ['early', 'next', 'delayed'])
    // The first copy is removed, and what is older than the new key is still listed.
    const { entries: listed } = await audit.list({ limit: 10, since: day })
    assert.deepEqual(
      listed.map(({ task }) => task),
      ['delayed', 'next', 'early'],
    )
    await audit.close()
  })
})

describe('the keys of the audit of one process', () => {
  it('increase even if the clock was set back since the last start', async () => {
    const { kv } = memoryStore()
    // Later than any clock that another test of this process sets: ids of one process never decrease.
    const future = keyAt(Date.UTC(3000, 0), 7)
    await add(kv, future, 'before')
    const audit = createAuditLog({ kv, retentionMs: 86_400_000 * 9, isShared: false })
    audit.record({ at: 1, event: 'call', task: 'after' })
    await audit.flush()
    audit.record({ at: 2, event: 'call', task: 'later' })
    await audit.close()
    const reader = createAuditReader({ kv, now: Date.now, isShared: false })
    assert.deepEqual((await readAll(reader, reader.start())).tasks, ['before', 'after', 'later'])
    const [last] = await kv.list(auditKind, { descending: true, limit: 1 })
    assert.equal(timeOfKey(last?.key ?? ''), timeOfKey(future))
  })
})
