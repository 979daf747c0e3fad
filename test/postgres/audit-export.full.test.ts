/** The audit of two replicas on one database: an export from either returns every entry, in order where the clocks agree. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { auditKind, createAuditLog } from '../../packages/hub/src/audit/audit-log.ts'
import { createAuditExport, type AuditSink } from '../../packages/hub/src/audit/audit-export.ts'
import { createAuditReader, maxLateMs, settleMs } from '../../packages/hub/src/audit/audit-reader.ts'
import { createReaderLease } from '../../packages/hub/src/store/reader-lease.ts'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('the audit of two replicas', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('is read in full by either, once it has settled', async () => {
    const [one, other] = [database.open(), database.open()]
    const logs = [one, other].map(({ kv }) => createAuditLog({ kv, retentionMs: 3_600_000 }))
    for (let n = 0; n < 20; n += 1) {
      const log = logs[n % 2]
      log?.record({ at: n, event: 'call', task: `task-${n}` })
      await log?.flush()
    }
    assert.deepEqual((await readAll(one)).tasks, [])
    const all = Array.from({ length: 20 }, (_, n) => `task-${n}`)
    const { tasks, cursor } = await readAll(other, settleMs + 1_000)
    assert.deepEqual(tasks, all)
    // A batch of a writer whose clock is a minute late: its key is before the cursor.
    const [newest] = await one.kv.list(auditKind, { descending: true, limit: 1 })
    const late = keyBefore(newest?.key ?? '', 60_000)
    await one.kv.writeAll(auditKind, [{ key: late, value: [{ at: 99, event: 'call', task: 'late' }] as Json }])
    const next = await readAll(other, settleMs + 1_000, cursor)
    assert.deepEqual(next.tasks, [])
    const found = await readAll(one, maxLateMs + 1_000, next.cursor)
    assert.deepEqual(found.tasks, ['late'])
    assert.deepEqual((await readAll(one, maxLateMs + 2_000, found.cursor)).tasks, [])
  })

  it('is exported by one replica at a time', async () => {
    const written: string[] = []
    const sink: AuditSink = { name: 'both', write: async ({ text }) => void written.push(text), async close() {} }
    const exports = [database.open(), database.open()].map(({ kv }) => {
      const clock = { now: Date.now, monotonicNow: () => performance.now() }
      const lease = createReaderLease({ kv, kind: 'audit-export', key: 'lease/both', isShared: true, ...clock })
      const reader = createAuditReader({ kv, now: Date.now, isShared: false })
      return {
        lease,
        open: () => createAuditExport({ kv, reader, sink, lease, ...clock, log: { warn() {}, info() {} } }),
      }
    })
    const [first, second] = exports
    assert.equal(await first?.lease.acquire(), true)
    await second?.open().close()
    assert.deepEqual(written, [])
    await first?.open().close()
    const lines = written.join('').trim().split('\n')
    assert.ok(lines.length >= 20)
    await second?.open().close()
    assert.equal(written.join('').trim().split('\n').length, lines.length, 'the cursor is shared')
  })

  /** Reads as if so much time had passed. */
  async function readAll({ kv }: FullStore, laterMs = 0, from?: string) {
    const shifted = { ...kv, read: async (kind: string, key: string) => shift(await kv.read(kind, key), kind) }
    const reader = createAuditReader({ kv: shifted, now: () => Date.now(), isShared: true })
    const tasks: (string | undefined)[] = []
    for (let cursor = from ?? reader.start(); ;) {
      const page = await reader.read(cursor, 7)
      tasks.push(...page.entries.map(({ task }) => task))
      cursor = page.cursor
      if (page.isEnd) return { tasks, cursor }
    }
    function shift<Entry extends { readonly updatedAt: number } | undefined>(entry: Entry, kind: string): Entry {
      return entry === undefined || kind !== 'audit-clock' ? entry : { ...entry, updatedAt: entry.updatedAt + laterMs }
    }
  }
})

function keyBefore(key: string, ms: number): string {
  const time = Number.parseInt(key.slice(0, 8) + key.slice(9, 13), 16) - ms
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}${key.slice(13)}`
}
