/**
 * Synchronous replication across a crash of the primary, on a real pair of servers: PostgreSQL then shows commits that the standby
 * never received. No store reads or acknowledges them before the standby has them.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import pg from 'pg'
import type { FullStore } from '@parley/a2a/stores'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { openTcpProxy } from '../cluster/tcp-proxy.ts'
import { chunks, createTask, recordTexts } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { administer, clientOptions, startCluster, startServer } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { masterKey, openDatabase } from './databases.ts'
import { killServer, standbySkipReason, startStandby } from './standby.ts'

/** The statement must outlast the crash and the wait for the standby. */
const patient = { statementTimeoutMs: 120_000, leaseTtlMs: 120_000 }

const skip = await standbySkipReason()
describe('a primary with a synchronous standby', { skip, timeout: 180_000 }, async () => {
  if (skip !== false) return
  // Autovacuum would use transaction ids, which a test counts.
  const { cluster, name } = await openDatabase(await startCluster({ settings: { autovacuum: 'off' } }))
  const replication = await openTcpProxy(cluster)
  const standby = await startStandby(cluster, 'asynchronous', replication.port)
  const opened: FullStore[] = []
  const pools: pg.Pool[] = []
  after(async () => {
    replication.set('open')
    await Promise.all(opened.map((store) => store.close()))
    await Promise.all(pools.map((pool) => pool.end()))
    await replication.close()
  })

  function newPool(more: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ ...clientOptions(cluster, name), max: 4, ...more })
    pool.on('error', () => {})
    pools.push(pool)
    return pool
  }
  function open(pool = newPool(), more = {}): FullStore {
    const store = postgresStore({ pool, masterKey, ...patient, ...more })
    opened.push(store)
    return store
  }
  const onPrimary = async <Row>(sql: string): Promise<Row> => (await administer(cluster, sql, name))[0] as Row
  /** The transactions that `work` starts. */
  async function transactionsOf(work: () => Promise<unknown>): Promise<number> {
    const next = 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text::integer AS xid'
    const before = await onPrimary<{ xid: number }>(next)
    await work()
    return (await onPrimary<{ xid: number }>(next)).xid - before.xid
  }
  /** Reads on a new connection each, by the stores in turn. */
  async function readOnNewConnections(pool: pg.Pool, ...stores: readonly FullStore[]): Promise<void> {
    for (const store of stores) {
      const used = await pool.connect()
      used.release(true)
      await store.keys.list()
      await store.keys.list()
    }
  }

  it('writes nothing for a new connection without synchronous standbys', async () => {
    const pool = newPool({ max: 1 })
    const stores = [open(pool), open(pool)]
    for (const store of stores) await store.keys.list()
    assert.equal(await transactionsOf(() => readOnNewConnections(pool, ...stores)), 0)
  })

  it('writes one commit for a new connection with them, also if several stores use the pool', async () => {
    await replicateSynchronously(cluster)
    const pool = newPool({ max: 1 })
    const [one, two] = [open(pool), open(pool)]
    for (const store of [one, two]) await store.keys.list()
    assert.equal(await transactionsOf(() => readOnNewConnections(pool, one, two, one)), 3)
    assert.equal(await transactionsOf(() => Promise.all([one.keys.list(), two.keys.list()])), 0)
  })

  it('shows and acknowledges nothing after a crash that the standby has not received', async () => {
    const [writer, reader] = [open(), open()]
    const task = await createTask(writer)
    await reader.tasks.read(task.id, 0)

    replication.set('cut')
    const answered: string[] = []
    const appending = writer.tasks.append(task.id, { expectedSeq: 1, records: chunks('late') })
    void appending.then(() => answered.push('append'))
    await eventually(async () => (await sessionsWaiting(cluster)) === 1)
    assert.deepEqual(await reader.tasks.read(task.id, 1), [], 'the commit is visible before the standby has it')

    killServer(cluster)
    await startServer(cluster)
    const { records } = await onPrimary<{ records: number }>('SELECT count(*)::integer AS records FROM parley.log')
    assert.equal(records, 2, 'the server shows the commit after its recovery')
    const { lsn } = await onPrimary<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn')

    const reading = reader.tasks.read(task.id, 1)
    void reading.then(() => answered.push('read'))
    // Its pool has a connection from before the store.
    const older = newPool({ max: 1 })
    await older.query('SELECT 1')
    const readingOlder = open(older).tasks.read(task.id, 1)
    void readingOlder.then(() => answered.push('read on an older connection'))
    await eventually(async () => answered.length > 0 || (await sessionsWaiting(cluster)) === 3)
    assert.deepEqual(answered, [])
    assert.equal(await hasReceived(standby, lsn), false)

    replication.set('open')
    assert.deepEqual(recordTexts(await reading), ['late'])
    assert.equal(await hasReceived(standby, lsn), true)
    assert.deepEqual(recordTexts(await readingOlder), ['late'])
    assert.deepEqual(await appending, { outcome: 'appended', head: 2 })
  })

  it('serves a role without special rights, and ends connections whose commit is refused', async () => {
    await onPrimary(`CREATE ROLE plain LOGIN IN ROLE pg_read_all_data, pg_write_all_data`)
    const pool = newPool({ user: 'plain', max: 1 })
    const store = open(pool, { migrate: false })
    await store.keys.list()
    await onPrimary('REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) FROM PUBLIC')
    await onPrimary(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'`)
    await eventually(() => Promise.resolve(pool.totalCount === 0))
    await assert.rejects(store.keys.list(), /permission denied/)
    assert.equal(pool.totalCount, 0)
    await onPrimary('GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO PUBLIC')
    await store.keys.list()
  })
})

async function replicateSynchronously(primary: Cluster): Promise<void> {
  await administer(primary, `ALTER SYSTEM SET synchronous_standby_names = 'standby'`)
  await administer(primary, 'SELECT pg_reload_conf()')
  await eventually(async () => {
    const [row] = await administer(primary, 'SELECT sync_state FROM pg_stat_replication')
    return (row as { sync_state: string } | undefined)?.sync_state === 'sync'
  })
}

/** Sessions whose commit waits for the standby. */
async function sessionsWaiting(primary: Cluster): Promise<number> {
  const sql = `SELECT count(*)::integer AS sessions FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  return ((await administer(primary, sql))[0] as { sessions: number }).sessions
}

async function hasReceived(standby: Cluster, lsn: string): Promise<boolean> {
  const [row] = await administer(standby, `SELECT pg_last_wal_receive_lsn() >= '${lsn}' AS received`)
  return (row as { received: boolean }).received
}
