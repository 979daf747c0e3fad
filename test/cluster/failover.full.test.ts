/**
 * The database is lost for good, with everything on its disk, while clients work: a standby that follows it by synchronous
 * replication is promoted, the address leads to it, and nothing that a client received is missing. `PARLEY_FULL=1` does it three
 * times in a row, each time to a standby of the one before.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import type { Cluster } from '../postgres/cluster.ts'
import { clientOptions, startCluster } from '../postgres/cluster.ts'
import { masterKey, openDatabase } from '../postgres/databases.ts'
import { killServer, standbySkipReason, promote, startStandby } from '../postgres/standby.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { checkClusterHistory } from './check-history.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { createLoad } from './load.ts'
import { readLogs } from './logs.ts'
import { allReadyzAre, waitForMoreTasks } from './wait-until.ts'

/** The default. Longer than this failover takes, so that running turns survive it. */
const leaseTtlMs = 10_000
const rounds = process.env['PARLEY_FULL'] === '1' ? 3 : 1

const skip = await standbySkipReason()
describe('three replicas whose database fails over', { skip, timeout: 600_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase(await startCluster())
  let primary: Cluster = database.cluster
  let fleet: Fleet
  let balancer: Balancer
  before(async () => {
    const { host, port } = primary
    fleet = await startFleet({ size: 3, database: { host, port, name: database.name }, leaseTtlMs })
    balancer = await startBalancer(fleet.urls)
  })
  after(async () => {
    await balancer?.close()
    await fleet?.close()
  })

  it('lose nothing that was acknowledged to a synchronous standby, and continue on their own', async () => {
    const load = createLoad({ url: balancer.url, count: [40, 20], idleTimeoutMs: 5_000, fragile: true })
    const loading = load.keepUp(10)
    const placed: Promise<void>[] = []
    const outages: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const standby = await startStandby(primary, 'synchronous')
      await waitForMoreTasks(load, 10)
      for (const replica of fleet.replicas) placed.push((await load.place(replica.url, '250 20')).ended)
      const lostAt = Date.now()
      killServer(primary)
      await eventually(allReadyzAre(503, fleet.replicas), 'all to say that they are not ready')
      await promote(standby)
      for (const { databaseProxy } of fleet.replicas) databaseProxy.leadTo(standby)
      await eventually(allReadyzAre(200, fleet.replicas), 'all to say that they are ready')
      outages.push(Date.now() - lostAt)
      primary = standby
      await waitForMoreTasks(load, 10)
    }
    await loading.stop()
    await Promise.all(placed)

    const pool = new pg.Pool(clientOptions(primary, database.name))
    const store = postgresStore({ pool, masterKey, endPool: true })
    const survivor = { query: async <Row>(sql: string) => (await pool.query(sql)).rows as Row[] }
    const logs = await readLogs(survivor, store)
    const [row] = await survivor.query<{ file: string }>('SELECT pg_walfile_name(pg_current_wal_lsn()) AS file')
    const timeline = Number.parseInt(row?.file.slice(0, 8) ?? '', 16)
    await store.close()
    const events = load.streams.reduce((sum, one) => sum + one.events.length, 0)
    const again = logs.flatMap(({ records }) =>
      records.filter(({ body }) => body.type === 'turn-started' && body.attempt > 1),
    )
    console.log(
      `${rounds} failovers, ready again after ${outages.join(', ')} ms; ${logs.length} tasks, ${load.streams.length} subscribers, ` +
        `${events} events received, ${load.retries.length} retries, ${again.length} turns run again`,
    )
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages: [] }), [])
    assert.equal(timeline, rounds + 1, 'it is another server, each time')
    assert.equal(logs.length, new Set(load.sent.flatMap(({ taskId }) => taskId ?? [])).size)
  })
})
