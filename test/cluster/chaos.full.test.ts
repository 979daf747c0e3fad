/**
 * Faults of replicas and of their database under load. The checker judges each by what all clients recorded:
 * nothing that was acknowledged is lost, doubled or out of order, nothing is stuck, and what a replica can no longer
 * continue is taken over in time.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { startCluster, startServer, stopServer } from '../postgres/cluster.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { checkClusterHistory, takeOverMs } from './check-history.ts'
import type { Outage } from './check-history.ts'
import { startFleet } from './fleet.ts'
import type { Fleet, Replica } from './fleet.ts'
import { createLoad } from './load.ts'
import { readLogs } from './logs.ts'
import { allReadyzAre, waitForMoreTasks, readyzStatus } from './wait-until.ts'

/** Shorter than the default, so that a test does not wait ten seconds for it. */
const leaseTtlMs = 2_000
const sweepMs = 1_000
/** Extra time for a busy machine. */
const slackMs = 60_000
const boundMs = leaseTtlMs + sweepMs + slackMs
const rounds = process.env['PARLEY_FULL'] === '1' ? 10 : 1
const atOnce = 10

const skip = await skipReason()
describe('under load, three replicas survive', { skip, timeout: 1_200_000 }, async () => {
  if (skip !== false) return
  // A separate database server, because the tests stop and restart it.
  const database = await openDatabase(await startCluster())
  const { cluster } = database
  const store = database.open()
  let fleet: Fleet
  let balancer: Balancer

  before(async () => {
    const { host, port } = cluster
    fleet = await startFleet({ size: 3, database: { host, port, name: database.name }, leaseTtlMs })
    balancer = await startBalancer(fleet.urls)
  })
  after(async () => {
    await balancer?.close()
    await fleet?.close()
  })

  /** Load before, during and after the fault; then the check. */
  async function underLoad(disturb: (victim: Replica, outages: Outage[]) => Promise<void>) {
    const load = createLoad({ url: balancer.url, count: [40, 20], idleTimeoutMs: 2_500, fragile: true })
    const outages: Outage[] = []
    const begunAt = Date.now()
    const loading = load.keepUp(atOnce)
    const placed: Promise<void>[] = []
    for (let round = 0; round < rounds; round += 1) {
      const victim = fleet.replicas[Math.floor(Math.random() * fleet.replicas.length)] as Replica
      await waitForMoreTasks(load, atOnce / 2)
      // Ensures that it runs a turn that outlasts everything below.
      for (let n = 0; n < 3; n += 1) placed.push((await load.place(victim.url, '200 20')).ended)
      await disturb(victim, outages)
    }
    await waitForMoreTasks(load, atOnce)
    await loading.stop()
    await Promise.all(placed)
    const logs = (await readLogs(database, store)).filter(({ records }) => (records[0]?.at ?? 0) >= begunAt)
    const takenOver = logs.flatMap(({ records }) =>
      records.filter(({ body }) => body.type === 'turn-started' && body.attempt > 1),
    )
    const times = outages.flatMap((outage) => logs.flatMap((log) => takeOverMs(outage, log) ?? []))
    console.log(
      `${logs.length} tasks, ${load.streams.length} subscribers, ${load.retries.length} retries, ` +
        `${takenOver.length} turns run again, taken over within ${Math.max(0, ...times)} ms`,
    )
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages }), [])
    return { takenOver: takenOver.length }
  }

  const out = ({ name: replica }: Replica): Outage => ({ replica, at: Date.now(), boundMs })

  it('the death of one replica (SIGKILL), whose turns are taken over in time [B-52]', async () => {
    const { takenOver } = await underLoad(async (victim, outages) => {
      await victim.kill()
      outages.push(out(victim))
      await sleep(leaseTtlMs + sweepMs)
      await victim.start()
    })
    assert.ok(takenOver >= 3, 'the one that was killed ran nothing')
  })

  it('a pause of one replica that outlasts its leases (SIGSTOP, SIGCONT), after which it writes nothing', async () => {
    const { takenOver } = await underLoad(async (victim, outages) => {
      victim.pause()
      outages.push(out(victim))
      await sleep(leaseTtlMs + sweepMs + 500)
      victim.resume()
    })
    assert.ok(takenOver >= 3, 'the one that was paused ran nothing')
  })

  for (const state of ['cut', 'silent'] as const) {
    const how = state === 'cut' ? 'that is refused' : 'that swallows everything'
    it(`a database connection of one replica ${how}: it reports not ready, then ready, and the others continue`, async () => {
      const { takenOver } = await underLoad(async (victim, outages) => {
        victim.databaseProxy.set(state)
        outages.push(out(victim))
        await eventually(async () => (await readyzStatus(victim)) === 503, 'it to say that it is not ready')
        const refused = await fetch(`${victim.url}/a2a/counter/tasks/unknown`, { headers: { 'a2a-version': '1.0' } })
        assert.equal(refused.status, 503)
        assert.ok(Number(refused.headers.get('retry-after')) > 0)
        await sleep(Math.max(0, (outages.at(-1)?.at ?? 0) + leaseTtlMs + sweepMs - Date.now()))
        victim.databaseProxy.set('open')
        await eventually(async () => (await readyzStatus(victim)) === 200, 'it to say that it is ready')
      })
      assert.ok(takenOver >= 3, 'the one that was cut off ran nothing')
    })
  }

  for (const how of ['fast', 'immediate'] as const) {
    it(`a ${how === 'fast' ? 'restart of the database that takes longer than a lease' : 'crash of the database'} (${how}), during which all replicas report not ready and after which they recover on their own`, async () => {
      await underLoad(async () => {
        stopServer(cluster, how)
        await eventually(allReadyzAre(503, fleet.replicas), 'all to say that they are not ready')
        if (how === 'fast') await sleep(leaseTtlMs + sweepMs)
        await startServer(cluster)
        await eventually(allReadyzAre(200, fleet.replicas), 'all to say that they are ready')
      })
    })
  }
})
