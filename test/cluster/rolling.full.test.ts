/**
 * Replicas are terminated one after the other while clients work: other replicas continue their turns at once,
 * without waiting for leases to expire; turns that cannot be resumed finish first; clients resume their streams.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@parley/a2a/client'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { checkClusterHistory, takeOverMs } from './check-history.ts'
import type { Outage } from './check-history.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { createLoad } from './load.ts'
import { readLogs } from './logs.ts'

/** Long enough that a handover which waited for it would be noticed on the busiest machine. */
const leaseTtlMs = 120_000
const drainMs = 5_000
/** One sweep for orphans per second, plus extra time for a busy machine. */
const handOverMs = 60_000

const skip = await skipReason()
describe('a rolling replacement of three replicas under load', { skip, timeout: 300_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let fleet: Fleet
  let balancer: Balancer
  before(async () => {
    const { host, port } = database.cluster
    fleet = await startFleet({ size: 3, database: { host, port, name: database.name }, leaseTtlMs, drainMs })
    balancer = await startBalancer(fleet.urls)
  })
  after(async () => {
    await balancer?.close()
    await fleet?.close()
  })

  it('loses no event, fails no task, hands over at once, and each replica exits in time', async () => {
    const load = createLoad({ url: balancer.url, count: [40, 20], fragile: true })
    const outages: Outage[] = []
    const placed: Promise<void>[] = []
    const exits: string[] = []
    const loading = load.keepUp(8)
    for (const replica of fleet.replicas) {
      for (let n = 0; n < 2; n += 1) placed.push((await load.place(replica.url, '150 20')).ended)
      await sleep(300)
      const { code, ms } = await replica.retire()
      outages.push({ replica: replica.name, at: Date.now(), boundMs: handOverMs })
      assert.equal(code, 0, 'it ended by itself')
      exits.push(`${Math.round(ms)} ms`)
      await replica.start()
    }
    await loading.stop()
    await Promise.all(placed)
    const logs = await readLogs(database, database.open())
    const times = outages.flatMap((outage) => logs.flatMap((log) => takeOverMs(outage, log) ?? []))
    console.log(
      `${logs.length} tasks, ${load.streams.length} subscribers, ${load.retries.length} retries; ` +
        `gone after ${exits.join(', ')}; ${times.length} tasks handed over within ${Math.max(...times)} ms`,
    )
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages }), [])
    assert.ok(times.length > 0, 'nothing was handed over')
    assert.ok(Math.max(...times) < leaseTtlMs * 0.75, 'it was not handed over, but ran out')
    const failed = logs.filter(({ records }) =>
      records.some(({ body }) => body.type === 'status' && body.status.state === 'TASK_STATE_FAILED'),
    )
    assert.deepEqual(
      failed.map(({ taskId }) => taskId),
      [],
      'nothing that cannot be resumed was interrupted',
    )
  })

  it('is invisible to readers of a stream that use our client', async () => {
    const agent = await connect(`${balancer.url}/a2a/counter`)
    const said: string[] = []
    const retiring = (async () => {
      for (const replica of fleet.replicas) {
        await sleep(200)
        await replica.retire()
        await replica.start()
      }
    })()
    for await (const text of agent.stream('200 20').text()) said.push(text)
    await retiring
    assert.equal(said.join(''), Array.from({ length: 200 }, (_, n) => `${n} `).join(''))
  })
})
