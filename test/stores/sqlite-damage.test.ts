/** Each kind of damage to a SQLite store is found by `verifyStore`, and nothing is found in a healthy one. */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import type { StoreFinding } from '@parley/a2a/internal'
import { masterKeyFile, sqliteStore } from '@parley/a2a/stores/sqlite'
import { sqliteReader } from '@parley/a2a/stores/dump'
import { verifyStore } from '../../packages/hub/src/verify/verify-store.ts'
import type { VerifyReport } from '../../packages/hub/src/verify/finding-report.ts'
import { fillStore, type StoreContent } from './store-content.ts'

const directory = mkdtempSync(join(tmpdir(), 'parley-damage-'))
const healthy = join(directory, 'healthy.db')
let ids: StoreContent
before(async () => {
  ids = await fillStore(sqliteStore({ file: healthy, durability: 'normal' }))
})
after(() => rmSync(directory, { recursive: true }))

let copies = 0
/** A copy of the healthy file, damaged by the SQL. */
async function verifyDamaged(sql: string, masterKey?: Uint8Array): Promise<VerifyReport> {
  copies += 1
  const file = join(directory, `${copies}.db`)
  copyFileSync(healthy, file)
  const database = new DatabaseSync(file)
  // So that a test can damage the schema.
  database.enableDefensive(false)
  if (sql !== '') database.exec(sql)
  database.close()
  return verifyFile(file, masterKey)
}

async function verifyFile(file: string, masterKey?: Uint8Array): Promise<VerifyReport> {
  const reader = await sqliteReader(file)
  try {
    return await verifyStore(reader, { masterKey })
  } finally {
    await reader.close()
  }
}

const taskOf = (text: keyof StoreContent): string => `(SELECT ref FROM tasks WHERE id = '${ids[text]}')`
const summary = ({ findings }: VerifyReport) =>
  findings.map(({ kind, table, taskId, seq }: StoreFinding) => [kind, table, taskId, seq])

describe('verify of a SQLite store', () => {
  it('finds nothing in a healthy one, and says what it read', async () => {
    const report = await verifyDamaged('', masterKeyFile(healthy))
    assert.deepEqual(report.findings, [])
    const { isHealthy, store, tasks, blobs, hasCheckedKeys } = report
    assert.deepEqual([isHealthy, store, tasks, blobs, hasCheckedKeys], [true, 'sqlite', 5, 1, true])
    assert.ok(report.records > 400)
  })

  it('runs while a store has the file open', async () => {
    const store = sqliteStore(healthy)
    try {
      assert.deepEqual((await verifyFile(healthy)).findings, [])
    } finally {
      await store.close()
    }
  })

  it('finds a changed letter in a row of the log', async () => {
    const report = await verifyDamaged(
      `UPDATE log SET records = replace(records, '2 word', '2 wprd') WHERE task = ${taskOf('short')}`,
    )
    assert.ok(
      summary(report).some(([kind, table, taskId]) => kind === 'checksum' && table === 'log' && taskId === ids.short),
    )
  })

  it('finds a row of the log that is not JSON, and checks the rest', async () => {
    const report = await verifyDamaged(
      `UPDATE log SET records = '[{' WHERE task = ${taskOf('short')} AND first_seq = 1; UPDATE counters SET tasks = 9 WHERE state = 3`,
    )
    const kinds = report.findings.map(({ kind }) => kind)
    assert.ok(kinds.includes('log') && kinds.includes('checksum') && kinds.includes('counter'), kinds.join())
  })

  it('finds a lost row of the log, in the middle and at the end', async () => {
    const first = `DELETE FROM log WHERE task = ${taskOf('short')} AND first_seq = 1`
    assert.ok(
      summary(await verifyDamaged(first)).some(
        ([kind, table, id]) => kind === 'log' && table === 'log' && id === ids.short,
      ),
    )
    const last = `DELETE FROM log WHERE position = (SELECT max(position) FROM log WHERE task = ${taskOf('ask')})`
    assert.ok(summary(await verifyDamaged(last)).some(([kind, , id]) => kind === 'log' && id === ids.ask))
  })

  it('finds the rows that a lost task leaves behind', async () => {
    const report = await verifyDamaged(`DELETE FROM tasks WHERE id = '${ids.push}'`)
    const orphans = report.findings.filter(({ kind }) => kind === 'orphan').map(({ table }) => table)
    for (const table of ['log', 'pushes', 'push_attempts']) assert.ok(orphans.includes(table), table)
    assert.ok((report.counts.counter ?? 0) > 0)
  })

  it('finds a wrong counter', async () => {
    const report = await verifyDamaged('UPDATE counters SET tasks = tasks + 1 WHERE state = 3')
    assert.deepEqual(summary(report), [['counter', 'counters', undefined, undefined]])
    assert.match(report.findings[0]?.message ?? '', /COMPLETED says 5; there are 4 tasks/)
    const ofRow = await verifyDamaged(`UPDATE tasks SET pushes = 3 WHERE id = '${ids.push}'`)
    assert.deepEqual(summary(ofRow), [['counter', 'tasks', ids.push, undefined]])
  })

  it('finds a missing blob, a changed one and one without a user', async () => {
    const gone = await verifyDamaged('DELETE FROM blobs')
    assert.ok(summary(gone).some(([kind, , taskId]) => kind === 'blob' && taskId === ids.file))
    const changed = await verifyDamaged(`UPDATE blobs SET content = CAST('other' AS BLOB)`)
    assert.deepEqual(summary(changed), [['blob', 'blobs', ids.file, undefined]])
    assert.deepEqual(summary(await verifyDamaged('DELETE FROM blob_uses')), [['orphan', 'blobs', undefined, undefined]])
  })

  it('finds a changed snapshot, also one whose checksum fits', async () => {
    const change = `UPDATE snapshots SET folded = replace(folded, '7 word', '7 wprd')`
    const kindsOf = (report: VerifyReport) => report.findings.map(({ kind, taskId }) => [kind, taskId])
    assert.deepEqual(kindsOf(await verifyDamaged(change)), [
      ['checksum', ids.long],
      ['snapshot', ids.long],
    ])
    const database = new DatabaseSync(healthy, { readOnly: true })
    const { folded, internal } = database
      .prepare(`SELECT folded, internal FROM snapshots WHERE task = ${taskOf('long')}`)
      .get() as Record<'folded' | 'internal', string>
    database.close()
    const checksum = crc32(internal, crc32(folded.replaceAll('7 word', '7 wprd')))
    const fitting = `${change}, checksum = ${checksum} WHERE task = ${taskOf('long')}`
    assert.deepEqual(kindsOf(await verifyDamaged(fitting)), [['snapshot', ids.long]])
  })

  it('finds a status in the row that is not that of the log', async () => {
    const report = await verifyDamaged(
      `UPDATE tasks SET status = replace(status, 'COMPLETED', 'FAILED'), state = 4 WHERE id = '${ids.short}'`,
    )
    assert.deepEqual(
      new Set(report.findings.map(({ kind, table }) => `${kind} ${table}`)),
      new Set(['row tasks', 'counter counters']),
    )
    const column = await verifyDamaged(`UPDATE tasks SET finished = 0 WHERE id = '${ids.short}'`)
    assert.deepEqual(summary(column), [['row', 'tasks', ids.short, undefined]])
  })

  it('finds a push notification config of no task, and cursors outside the log', async () => {
    const orphan = await verifyDamaged(`UPDATE pushes SET task = 9999`)
    assert.ok(summary(orphan).some(([kind, table]) => kind === 'orphan' && table === 'pushes'))
    const ahead = await verifyDamaged('UPDATE pushes SET delivered_seq = 999')
    assert.deepEqual(summary(ahead), [['push', 'pushes', ids.push, 999]])
    const idle = await verifyDamaged('UPDATE pushes SET delivered_seq = 0, due_at = NULL')
    assert.deepEqual(summary(idle), [['push', 'pushes', ids.push, 0]])
  })

  it('finds an index that lacks a row', async () => {
    // Drops the index from the schema without its pages, changes the table, and puts it back.
    const report = await verifyDamaged(`
      CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'tasks_context';
      PRAGMA writable_schema = ON;
      DELETE FROM sqlite_schema WHERE name = 'tasks_context';
      PRAGMA writable_schema = RESET;
      UPDATE tasks SET context_id = 'moved' WHERE id = '${ids.short}';
      PRAGMA writable_schema = ON;
      INSERT INTO sqlite_schema SELECT * FROM kept;
      PRAGMA writable_schema = RESET;
      DROP TABLE kept`)
    assert.ok(
      summary(report).some(([kind, table]) => kind === 'index' && table === 'tasks'),
      JSON.stringify(summary(report)),
    )
  })

  it('finds a flipped byte of the file itself', async () => {
    const file = join(directory, 'flipped.db')
    copyFileSync(healthy, file)
    const bytes = readFileSync(file)
    // All of them: some are in pages that are no longer used.
    for (let at = bytes.indexOf('1 word word'); at >= 0; at = bytes.indexOf('1 word word', at + 1)) bytes[at + 3]! ^= 1
    writeFileSync(file, bytes)
    const report = await verifyFile(file)
    assert.ok(report.findings.some(({ kind }) => kind === 'checksum'))
  })

  it('finds a key-value entry that cannot be read, and keys of another master key', async () => {
    assert.deepEqual(summary(await verifyDamaged(`UPDATE notes SET value = '{'`)), [
      ['key-value', 'notes', undefined, undefined],
    ])
    const report = await verifyDamaged('', new Uint8Array(32))
    assert.ok((report.counts.key ?? 0) > 0)
    assert.deepEqual(Object.keys(report.counts), ['key'])
  })

  it('reports a bounded number of findings, and counts all', async () => {
    const report = await verifyDamaged(`
      INSERT INTO snapshots (task, seq, checksum, folded, internal)
      WITH RECURSIVE n (n) AS (SELECT 10000 UNION ALL SELECT n + 1 FROM n WHERE n < 10499) SELECT n, 1, ${crc32('{}{}')}, '{}', '{}' FROM n`)
    assert.equal(report.counts.orphan, 500)
    assert.equal(report.findings.length, 25)
  })
})
