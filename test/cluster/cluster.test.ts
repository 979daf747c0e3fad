/**
 * Three replicas behind a balancer without sticky sessions: streams, cancels, follow-ups, questions and subscribers meet at
 * any replica. `PARLEY_FULL=1` runs 10,000 tasks, the quick mode a few hundred.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { checkClusterHistory } from './check-history.ts'
import type { TaskLog } from './check-history.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'
import { createLoad } from './load.ts'
import type { Load } from './load.ts'
import { readLogs } from './logs.ts'

const tasks = process.env['PARLEY_FULL'] === '1' ? 10_000 : 300
const skip = await skipReason()

describe(`${tasks} tasks on three replicas`, { skip, timeout: 1_800_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  let fleet: Fleet
  let balancer: Balancer
  let load: Load
  let logs: readonly TaskLog[]
  let seconds = 0

  before(async () => {
    const { host, port } = database.cluster
    fleet = await startFleet({ size: 3, database: { host, port, name: database.name } })
    balancer = await startBalancer(fleet.urls)
    load = createLoad({ url: balancer.url, count: [10, 1] })
    const startedAt = performance.now()
    await load.run(tasks, 32)
    seconds = (performance.now() - startedAt) / 1_000
    logs = await readLogs(database, database.open())
  })
  after(async () => {
    await balancer?.close()
    await fleet?.close()
  })

  it('ran every task to its end', () => {
    assert.equal(logs.length, tasks)
    assert.equal(load.done, tasks)
    const events = load.streams.reduce((sum, { events: all }) => sum + all.length, 0)
    console.log(
      `${tasks} tasks in ${seconds.toFixed(1)} s, ${load.streams.length} subscribers, ${events} events received`,
    )
  })

  it('delivered every event to every subscriber once and in order, on any replica [B-94 B-104 B-105]', () => {
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages: [] }), [])
  })

  it('needed no retries, because no replica failed', () => {
    // On a busy machine, PostgreSQL may take longer than the timeout of the store; clients then retry.
    const isSlowDatabase = (reason: string): boolean => reason.startsWith('The store does not answer')
    assert.deepEqual(
      load.retries.filter((reason) => !isSlowDatabase(reason)),
      [],
    )
  })

  it('distributed requests evenly, and ran turns of requests that other replicas received', () => {
    const counts = [...balancer.counts.values()]
    assert.ok(Math.max(...counts) - Math.min(...counts) <= Math.max(3, tasks / 50), counts.join(' '))
    const by = new Map<string, number>()
    for (const { records } of logs) {
      for (const { body } of records) {
        if (body.type !== 'artifact') continue
        const name = String(body.artifact.metadata?.['by'])
        by.set(name, (by.get(name) ?? 0) + 1)
      }
    }
    assert.equal(by.size, 3)
  })

  it('never restarted a turn', () => {
    for (const { taskId, records } of logs) {
      const again = records.filter(({ body }) => body.type === 'turn-started' && body.attempt > 1)
      assert.deepEqual(again, [], taskId)
    }
  })
})
