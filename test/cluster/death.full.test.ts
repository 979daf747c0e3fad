/**
 * A replica dies (SIGKILL) with the default settings (leases of ten seconds) while clients work. Its turns
 * are taken over when its leases have expired: run again, failed with a reason, or attached to if the work continued
 * outside the replica. `PARLEY_FULL=1` kills each of the three in turn.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { checkClusterHistory, takeOverMs } from './check-history.ts'
import type { TaskLog, Outage } from './check-history.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { openJobs } from './jobs.ts'
import { createLoad } from './load.ts'
import type { Load } from './load.ts'
import { readLogs } from './logs.ts'
import { waitForMoreTasks } from './wait-until.ts'

const leaseTtlMs = 10_000
const sweepMs = 1_000
/** Extra time for a busy machine. */
const slackMs = 60_000
const deaths = process.env['PARLEY_FULL'] === '1' ? 3 : 1
const perKind = 4
/** Some work ends before a replica attaches to it again, some continues after that. */
const numbers = { short: 300, long: 700 }

const skip = await skipReason()
describe('the death of a replica with default leases', { skip, timeout: 300_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const outages: Outage[] = []
  let jobs: Awaited<ReturnType<typeof openJobs>>
  let fleet: Fleet
  let balancer: Balancer
  let load: Load
  let logs: readonly TaskLog[]

  before(async () => {
    jobs = await openJobs()
    const { host, port } = database.cluster
    fleet = await startFleet({ size: 3, database: { host, port, name: database.name }, jobs: jobs.url })
    balancer = await startBalancer(fleet.urls)
    load = createLoad({ url: balancer.url, count: [40, 20], fragile: true })
    const loading = load.keepUp(8)
    const placed: Promise<void>[] = []
    for (const victim of fleet.replicas.slice(0, deaths)) {
      await waitForMoreTasks(load, 8)
      const works = Array.from({ length: perKind }, (_, n) => `${n % 2 === 0 ? numbers.short : numbers.long} 20`)
      const placing = works.flatMap((work) => ['counter', 'remote'].map((agent) => load.place(victim.url, work, agent)))
      placed.push(...(await Promise.all(placing)).map(({ ended }) => ended))
      await victim.kill()
      outages.push({ replica: victim.name, at: Date.now(), boundMs: leaseTtlMs + sweepMs + slackMs })
      await Promise.all(placed)
      await victim.start()
    }
    await loading.stop()
    logs = await readLogs(database, database.open())
  })
  after(async () => {
    await balancer?.close()
    await fleet?.close()
    await jobs?.close()
  })

  it('loses and doubles no event, leaves no task behind, and all turns are taken over in time [B-52]', () => {
    const times = outages.flatMap((outage) => logs.flatMap((log) => takeOverMs(outage, log) ?? []))
    console.log(
      `${logs.length} tasks, ${load.streams.length} subscribers, ${load.retries.length} retries; ${times.length} taken over ` +
        `after ${Math.min(...times)} to ${Math.max(...times)} ms`,
    )
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages }), [])
    assert.ok(times.length >= perKind * deaths, `${times.length} were taken over`)
    // Earlier would be within the lease: it is renewed after a quarter of its time, and later on a busy machine.
    assert.ok(Math.min(...times) > leaseTtlMs / 4, `taken over after ${Math.min(...times)} ms`)
  })

  it('lets another replica attach to work that continues elsewhere, without starting, losing or doubling any of it', () => {
    assert.equal(jobs.jobs.size, perKind * deaths)
    let attached = 0
    for (const [taskId, { until, starts }] of jobs.jobs) {
      const { records = [] } = logs.find((log) => log.taskId === taskId) ?? {}
      const attempts = records.flatMap(({ body }) => (body.type === 'turn-started' ? [body.attempt] : []))
      attached += attempts.length - 1
      assert.deepEqual(attempts, [1, 2].slice(0, attempts.length), `${taskId} was taken up more than once`)
      const said = records.flatMap(({ body }) => (body.type === 'artifact' ? body.artifact.parts : []))
      const text = said.map((part) => ('text' in part ? part.text : '')).join('')
      assert.equal(text, Array.from({ length: until }, (_, n) => `${n} `).join(''))
      assert.equal(starts, 1, `${taskId} was started ${starts} times`)
      const by = records.flatMap(({ body }) => (body.type === 'artifact' ? [body.artifact.metadata?.['by']] : []))
      assert.equal(new Set(by).size, attempts.length, 'the replica that resumed it followed it')
    }
    // On a busy machine the short ones may have ended before their replica died.
    assert.ok(attached >= (perKind / 2) * deaths, `${attached} were attached to again`)
  })
})
