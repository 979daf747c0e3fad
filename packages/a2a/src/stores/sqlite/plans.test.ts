import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAppender } from './append.ts'
import { createBlobTable } from './blob-table.ts'
import { createCounters } from './counters.ts'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import { beginEpoch } from './epoch.ts'
import { createLeases } from './leases.ts'
import { createLists } from './lists.ts'
import { createLog } from './log.ts'
import { createLook } from './look.ts'
import { createMessages } from './messages.ts'
import { migrate } from './migrate.ts'
import { createNotes } from './notes.ts'
import { createPrune } from './prune.ts'
import { createPushes } from './pushes.ts'
import { createSearch } from './search.ts'

/** Every statement that the store prepares, with the steps SQLite takes to answer it. */
function plans(): readonly { readonly sql: string; readonly steps: readonly string[] }[] {
  const real = openDatabase(':memory:', 0)
  migrate(real, 0)
  const texts = new Set<string>()
  const database: Database = {
    ...real,
    prepare: (sql) => {
      texts.add(sql)
      return real.prepare(sql)
    },
  }
  const epoch = beginEpoch(real)
  const counters = createCounters(database)
  const blobs = createBlobTable(database)
  const messages = createMessages(database)
  const parts = { database, epoch, counters, blobs, messages, now: Date.now, steady: (at: number) => at }
  createAppender(parts)
  createPrune(parts)
  createLog(database, blobs)
  createLists(database, counters, blobs)
  createLook(database, blobs)
  createSearch(database, blobs)
  createLeases(database, epoch, blobs)
  createPushes(database, epoch)
  createNotes({ database, now: Date.now, read: async (look) => look(), write: async (work) => work() })
  const found = [...texts].map((sql) => {
    const steps = real.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all()
    return { sql, steps: steps.map(({ detail }) => detail) }
  })
  real.close()
  return found
}

describe('the statements of a SQLite store', () => {
  it('read no table from end to end, but for the counters and the newest messages', () => {
    const mayBeScanned = new Set(['SCAN counters', 'SCAN messages', 'SCAN message_generations', 'SCAN CONSTANT ROW'])
    for (const { sql, steps } of plans()) {
      const scans = steps.filter((step) => /^SCAN (?!.*USING (COVERING )?INDEX)/.test(step) && !mayBeScanned.has(step))
      assert.deepEqual(scans, [], sql)
    }
  })

  it('sort only what one conversation, one task or one generation of messages holds', () => {
    for (const { sql, steps } of plans()) {
      if (/tasks_context|WHERE tasks\.id = \?|INTO sealed_messages/.test(sql)) continue
      assert.deepEqual(
        steps.filter((step) => step.includes('TEMP B-TREE')),
        [],
        sql,
      )
    }
  })

  it('are enough to be worth the look', () => {
    assert.ok(plans().length > 40)
  })
})
