/** Each kind of damage to a store in PostgreSQL is found by `verifyStore`, and nothing is found in a healthy one. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import pg from 'pg'
import type { StoreFinding } from '@parley/a2a/internal'
import { postgresReader } from '@parley/a2a/stores/dump'
import { postgresStore } from '@parley/a2a/stores/postgres'
import type { VerifyReport } from '../../packages/hub/src/verify/finding-report.ts'
import { verifyStore } from '../../packages/hub/src/verify/verify-store.ts'
import { administer, clientOptions, findCluster } from '../postgres/cluster.ts'
import { cloneDatabase, masterKey, skipReason } from '../postgres/databases.ts'
import { fillStore, type StoreContent } from './store-content.ts'

const skip = await skipReason()
describe('verify of a store in PostgreSQL', { skip }, async () => {
  const found = await findCluster()
  if ('missing' in found) return
  const { cluster } = found
  const healthy = await cloneDatabase(cluster)
  const copies: string[] = []
  let ids: StoreContent
  before(async () => {
    const pool = new pg.Pool(clientOptions(cluster, healthy))
    ids = await fillStore(postgresStore({ pool, masterKey, endPool: true }))
  })
  after(async () => {
    for (const copy of copies) await administer(cluster, `DROP DATABASE ${copy}`)
  })

  async function verifyDatabase(name: string, key: Uint8Array = masterKey): Promise<VerifyReport> {
    const reader = await postgresReader({ connect: () => new pg.Client(clientOptions(cluster, name)) })
    try {
      return await verifyStore(reader, { masterKey: key })
    } finally {
      await reader.close()
    }
  }

  /** A copy of the healthy database, damaged by the SQL. */
  async function verifyDamaged(...statements: readonly string[]): Promise<VerifyReport> {
    const copy = `damaged_${randomBytes(6).toString('hex')}`
    copies.push(copy)
    await administer(cluster, `CREATE DATABASE ${copy} TEMPLATE ${healthy}`)
    const client = new pg.Client(clientOptions(cluster, copy))
    await client.connect()
    try {
      await client.query('SET search_path = parley')
      for (const statement of statements) await client.query(statement)
    } finally {
      await client.end()
    }
    return verifyDatabase(copy)
  }

  const taskOf = (text: keyof StoreContent): string => `(SELECT ref FROM tasks WHERE id = '${ids[text]}')`
  const summary = ({ findings }: VerifyReport) =>
    findings.map(({ kind, table, taskId }: StoreFinding) => [kind, table, taskId].filter(Boolean).join(' '))

  it('finds nothing in a healthy one, and says what it read', async () => {
    const report = await verifyDatabase(healthy)
    assert.deepEqual(report.findings, [])
    const { isHealthy, store, tasks, blobs, hasCheckedKeys } = report
    assert.deepEqual([isHealthy, store, tasks, blobs, hasCheckedKeys], [true, 'postgres', 5, 1, true])
  })

  it('finds a changed letter in a row of the log', async () => {
    const change = `UPDATE log SET records = replace(records, '2 word', '2 wprd') WHERE task = ${taskOf('short')}`
    assert.deepEqual(summary(await verifyDamaged(change)), [`checksum log ${ids.short}`])
  })

  it('finds a row of the log that is not JSON', async () => {
    const report = await verifyDamaged(
      `UPDATE log SET records = '[{' WHERE task = ${taskOf('short')} AND first_seq = 1`,
    )
    assert.ok(summary(report).includes(`log log ${ids.short}`), summary(report).join())
  })

  it('finds a lost row of the log, and the rows that a lost task leaves behind', async () => {
    const lost = await verifyDamaged(`DELETE FROM log WHERE task = ${taskOf('ask')} AND first_seq = 1`)
    assert.ok(summary(lost).includes(`log log ${ids.ask}`), summary(lost).join())
    const orphans = summary(await verifyDamaged(`DELETE FROM tasks WHERE id IN ('${ids.push}', '${ids.file}')`))
    for (const table of ['log', 'pushes', 'push_attempts', 'blobs', 'messages'])
      assert.ok(
        orphans.some((line) => line.startsWith(`orphan ${table}`)),
        table,
      )
    assert.ok(orphans.includes('counter counters'))
  })

  it('finds a wrong counter', async () => {
    const report = await verifyDamaged('UPDATE counters SET tasks = tasks + 1 WHERE state = 3')
    assert.deepEqual(summary(report), ['counter counters'])
    assert.deepEqual(summary(await verifyDamaged('UPDATE tasks SET pushed = false')), [`counter tasks ${ids.push}`])
  })

  it('finds a missing blob and a changed one', async () => {
    assert.deepEqual(summary(await verifyDamaged('DELETE FROM blobs')), [`blob blobs ${ids.file}`])
    const changed = await verifyDamaged(`UPDATE blobs SET content = set_byte(content, 9, 1)`)
    assert.deepEqual(summary(changed), [`blob blobs ${ids.file}`])
  })

  it('finds a changed snapshot, also one whose checksum fits', async () => {
    const change = `UPDATE snapshots SET folded = replace(folded, '7 word', '7 wprd')`
    assert.deepEqual(summary(await verifyDamaged(change)), [
      `checksum snapshots ${ids.long}`,
      `snapshot snapshots ${ids.long}`,
    ])
    const client = new pg.Client(clientOptions(cluster, healthy))
    await client.connect()
    const { rows } = await client.query<Record<'folded' | 'internal', string>>(`
      SELECT folded, internal FROM parley.snapshots
      WHERE task = (SELECT ref FROM parley.tasks WHERE id = '${ids.long}')`)
    await client.end()
    const [{ folded, internal } = { folded: '', internal: '' }] = rows
    const checksum = crc32(internal, crc32(folded.replaceAll('7 word', '7 wprd')))
    const fitting = `${change}, checksum = ${checksum} WHERE task = ${taskOf('long')}`
    assert.deepEqual(summary(await verifyDamaged(fitting)), [`snapshot snapshots ${ids.long}`])
  })

  it('finds a status in the row that is not that of the log, and keys that no list finds', async () => {
    const change = `UPDATE tasks SET status = replace(status, 'COMPLETED', 'FAILED') WHERE id = '${ids.short}'`
    const found = summary(await verifyDamaged(change))
    assert.deepEqual(new Set(found), new Set([`row tasks ${ids.short}`]))
    const keys = await verifyDamaged(`UPDATE tasks SET partition_key = gen_random_uuid() WHERE id = '${ids.short}'`)
    assert.ok(summary(keys).includes(`row tasks ${ids.short}`))
  })

  it('finds a push notification config of no task, and cursors outside the log', async () => {
    assert.ok(summary(await verifyDamaged('UPDATE pushes SET task = 9999')).includes('orphan pushes'))
    assert.deepEqual(summary(await verifyDamaged('UPDATE pushes SET delivered_seq = 999')), [`push pushes ${ids.push}`])
  })

  it('finds a key-value entry that cannot be read, and keys of another master key', async () => {
    assert.deepEqual(summary(await verifyDamaged(`UPDATE notes SET value = '{' WHERE kind = 'settings'`)), [
      'key-value notes',
    ])
    assert.deepEqual(Object.keys((await verifyDatabase(healthy, new Uint8Array(32))).counts), ['key'])
  })

  it('finds an index that lacks rows, with amcheck and without it', async () => {
    // The rows are added while the server believes that there is no index.
    const without = `UPDATE pg_index SET indisready = false, indisvalid = false WHERE indexrelid = 'notes_pkey'::regclass`
    const add = `INSERT INTO notes (kind, key, version, updated_at, value) VALUES ('k', 'k', 1, 0, '1')`
    const again = `UPDATE pg_index SET indisready = true, indisvalid = true WHERE indexrelid = 'notes_pkey'::regclass`
    assert.deepEqual(summary(await verifyDamaged(without, add, again)), ['index notes'])
    const extension = 'CREATE EXTENSION IF NOT EXISTS amcheck'
    const checked = await verifyDamaged(without, add, again, extension).catch((error: Error) => error.message)
    if (typeof checked === 'string') assert.match(checked, /amcheck/)
    else assert.deepEqual(summary(checked), ['index notes'])
  })
})
