import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openDatabase } from './database.ts'
import { createClaimFilter } from './claim-filter.ts'
import { migrate } from './migrate.ts'

const digest = (n: number): Uint8Array => hash('sha256', String(n), 'buffer').subarray(0, 16)

it('never says no to a claim, those from before included, and rarely maybe to another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-'))
  const database = openDatabase(join(folder, 'claims.db'), 1_000)
  migrate(database, 1)
  const insert = database.prepare('INSERT INTO messages (key, task_id, hash, expires_at) VALUES (?, ?, ?, ?)')
  for (let n = 0; n < 500; n += 1) insert.run(digest(n), 't', 'h', 1)
  const filter = createClaimFilter(database)
  for (let n = 500; n < 1_000; n += 1) filter.add(digest(n))
  for (let n = 0; n < 1_000; n += 1) assert.equal(filter.mayHold(digest(n)), true)
  const wrong = Array.from({ length: 10_000 }, (_, n) => filter.mayHold(digest(1_000_000 + n))).filter(Boolean)
  assert.ok(wrong.length < 10, `${wrong.length} of 10,000`)
  database.close()
  rmSync(folder, { recursive: true })
})
