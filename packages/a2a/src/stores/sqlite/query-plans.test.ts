import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSqliteAppender } from './append.ts'
import { createBlobTable } from './blob-table.ts'
import { createCounters } from './counters.ts'
import { type SqliteDatabase, openSqliteDatabase } from './database.ts'
import { beginEpoch } from './epoch.ts'
import { createSqliteLeases } from './leases.ts'
import { createSqliteTaskLists } from './lists.ts'
import { createSqliteTaskLog } from './log.ts'
import { createStoredTaskReader } from './stored-task.ts'
import { createSqliteMessageClaims } from './message-claims.ts'
import { migrateSqlite } from './migrate.ts'
import { createSqliteKeyValue } from './key-value.ts'
import { createPrune } from './removal/prune.ts'
import { createSqlitePushCursors } from './push-cursors.ts'
import { createSqliteTaskSearch } from './search.ts'
import { createSqliteStats } from './stats.ts'

/** Every statement that the store prepares, with its SQLite query plan. */
function plans(): readonly { readonly sql: string; readonly steps: readonly string[] }[] {
  const real = openSqliteDatabase(':memory:', 0)
  migrateSqlite(real, 0)
  const texts = new Set<string>()
  const database: SqliteDatabase = {
    ...real,
    prepare: (sql) => {
      texts.add(sql)
      return real.prepare(sql)
    },
  }
  const epoch = beginEpoch(real)
  const counters = createCounters(database)
  const blobs = createBlobTable(database)
  const messages = createSqliteMessageClaims(database)
  const parts = { database, epoch, counters, blobs, messages, now: Date.now, steady: (at: number) => at }
  createSqliteAppender(parts, () => {})
  createPrune(parts)
  const log = createSqliteTaskLog(database, blobs)
  createSqliteTaskLists(database, counters, blobs)
  createStoredTaskReader(database, blobs)
  const search = createSqliteTaskSearch(database, blobs)
  createSqliteLeases(database, epoch, blobs)
  createSqlitePushCursors(database, epoch)
  createSqliteKeyValue(parts, { read: async (look) => look(), write: async (work) => work() })
  createSqliteStats(parts, search, log)
  const found = [...texts].map((sql) => {
    const steps = real.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all()
    return { sql, steps: steps.map(({ detail }) => detail) }
  })
  real.close()
  return found
}

describe('the statements of a SQLite store', () => {
  it('scan no whole table, except for the counters and the newest messages', () => {
    // The subquery is a count with a limit. The first row by its key is a scan to SQLite.
    const firstRow = 'SELECT created_at FROM tasks ORDER BY ref LIMIT 1'
    const mayBeScanned = new Set([
      'SCAN counters',
      'SCAN messages',
      'SCAN message_generations',
      'SCAN CONSTANT ROW',
      'SCAN (subquery-1)',
    ])
    for (const { sql, steps } of plans()) {
      if (sql === firstRow) continue
      const scans = steps.filter((step) => /^SCAN (?!.*USING (COVERING )?INDEX)/.test(step) && !mayBeScanned.has(step))
      assert.deepEqual(scans, [], sql)
    }
  })

  it('sort only the rows of one conversation, one task or one generation of messages', () => {
    for (const { sql, steps } of plans()) {
      if (/tasks_context|WHERE tasks\.id = \?|INTO sealed_messages/.test(sql)) continue
      assert.deepEqual(
        steps.filter((step) => step.includes('TEMP B-TREE')),
        [],
        sql,
      )
    }
  })

  it('are numerous enough for this test', () => {
    assert.ok(plans().length > 40)
  })
})
