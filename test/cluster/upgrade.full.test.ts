/**
 * A rolling upgrade to the next version and back, under load: replicas of both versions work on one schema, each may restart, and no
 * event is lost. The next version is this one with one more, additive migration step.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { postgresReader } from '@parley/a2a/stores/dump'
import { newestVersion } from '../../packages/a2a/src/stores/migration-step.ts'
import { migrationSteps } from '../../packages/a2a/src/stores/postgres/migrate.ts'
import { verifyStore } from '../../packages/hub/src/verify/verify-store.ts'
import { clientOptions } from '../postgres/cluster.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { checkClusterHistory } from './check-history.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { createLoad } from './load.ts'
import { readLogs } from './logs.ts'

/** A column of the tables that every append writes, with a default, and a table. */
const nextStep = `
  ALTER TABLE tasks ADD COLUMN colour text NOT NULL DEFAULT 'none';
  ALTER TABLE log ADD COLUMN shape text;
  CREATE TABLE shapes (name text PRIMARY KEY);`

const skip = await skipReason()
describe('a rolling upgrade to the next version and back, under load', { skip, timeout: 300_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let fleet: Fleet
  let balancer: Balancer
  before(async () => {
    const { host, port } = database.cluster
    fleet = await startFleet({ size: 3, database: { host, port, name: database.name } })
    balancer = await startBalancer(fleet.urls)
  })
  after(async () => {
    await balancer?.close()
    await fleet?.close()
  })

  it('loses no event, fails no task, and leaves a healthy store', async () => {
    const load = createLoad({ url: balancer.url, count: [40, 20], fragile: true })
    const loading = load.keepUp(6)
    const placed: Promise<void>[] = []
    const schemas: number[] = []
    for (const step of [nextStep, undefined]) {
      for (const replica of fleet.replicas) {
        placed.push((await load.place(replica.url, '80 20')).ended)
        assert.equal((await replica.retire()).code, 0)
        await replica.start(step)
      }
      const [row] = await database.query<{ version: number }>(
        'SELECT max(version) AS version FROM parley.schema_version',
      )
      schemas.push(row?.version ?? 0)
    }
    await loading.stop()
    await Promise.all(placed)
    const next = newestVersion(migrationSteps) + 1
    assert.deepEqual(schemas, [next, next], 'the schema stays at the next version')
    const logs = await readLogs(database, database.open())
    console.log(`${logs.length} tasks, ${load.streams.length} subscribers, ${load.retries.length} retries`)
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages: [] }), [])
    const failed = logs.filter(({ records }) =>
      records.some(({ body }) => body.type === 'status' && body.status.state === 'TASK_STATE_FAILED'),
    )
    assert.deepEqual(failed, [])
    const options = clientOptions(database.cluster, database.name)
    const reader = await postgresReader({ connect: () => new pg.Client(options) })
    const report = await verifyStore(reader)
    await reader.close()
    assert.deepEqual(report.findings, [])
  })
})
