import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { StoreStatistics } from '@parley/a2a/internal'
import type { FullStore } from '@parley/a2a/stores'
import { createStoreMonitor, reportCacheMs } from './store-monitor.ts'
import { createStoreSamples, samplePeriodMs } from './store-samples.ts'

const day = Date.UTC(2030, 0, 1)
const hourMs = 3_600_000
const quiet = { warn() {} }

/** A store whose statistics the test sets. */
function measuredStore() {
  let time = day
  const real = memoryStore({ now: () => time })
  const subject = {
    stats: { tasks: 0, position: 0, bytes: { database: 1_000, reusable: 0 } } as StoreStatistics,
    reads: 0,
    pass: (ms: number) => void (time += ms),
    now: () => time,
    kv: real.kv,
  }
  const stats = async (): Promise<StoreStatistics> => {
    subject.reads += 1
    return subject.stats
  }
  const store: Pick<FullStore, 'stats' | 'feed'> = { feed: real.feed, stats }
  return Object.assign(subject, { store })
}

describe('the facts about the store', () => {
  it('are read at most every fifteen seconds', async (t) => {
    const subject = measuredStore()
    const monitor = createStoreMonitor({ ...subject, log: quiet, feedReaders: [] })
    t.after(monitor.close)
    await Promise.all([monitor.report(), monitor.report()])
    subject.pass(reportCacheMs - 1)
    await monitor.report()
    assert.equal(subject.reads, 1)
    subject.pass(1)
    await monitor.report()
    assert.equal(subject.reads, 2)
  })

  it('have the growth of an hour and of a day once samples are that old', async (t) => {
    const subject = measuredStore()
    const monitor = createStoreMonitor({ ...subject, log: quiet, feedReaders: [] })
    t.after(monitor.close)
    assert.deepEqual((await monitor.report())?.growth, {})
    for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
      subject.pass(samplePeriodMs)
      const { bytes, tasks } = subject.stats
      subject.stats = { ...subject.stats, tasks: tasks + 1, bytes: { database: (bytes?.database ?? 0) + 100 } }
      await monitor.report()
    }
    const { growth } = (await monitor.report()) ?? {}
    assert.deepEqual(growth?.hour, { bytes: 600, tasks: 6 })
    assert.deepEqual(growth?.day, { bytes: 14_400, tasks: 144 })
  })

  it('count the appends that a reader of the feed has not read', async (t) => {
    const real = memoryStore()
    const status = { state: 'TASK_STATE_SUBMITTED' } as const
    const partition = { tenant: '', agent: 'a', owner: 'o' }
    for (const id of ['one', 'two', 'three'])
      await real.tasks.append(id, {
        expectedSeq: 0,
        create: { ...partition, id, contextId: id, status, statusAt: 1, createdAt: 1 },
        records: [{ at: 1, body: { type: 'status', status } }],
      })
    const [first] = await real.feed.read(0, 1)
    const monitor = createStoreMonitor({
      store: real,
      kv: real.kv,
      log: quiet,
      now: Date.now,
      lastBackupAt: async () => day,
      feedReaders: [
        { name: 'slow', position: async () => first?.position ?? 0 },
        { name: 'quick', position: () => real.feed.end() },
      ],
    })
    t.after(monitor.close)
    const report = await monitor.report()
    assert.deepEqual(report?.feedReaders, [
      { name: 'slow', behind: 2 },
      { name: 'quick', behind: 0 },
    ])
    assert.equal(report?.lastBackupAt, day)
  })

  it('are read again after a failure', async (t) => {
    const subject = measuredStore()
    let isFailing = true
    const stats = async (): Promise<StoreStatistics> => {
      if (isFailing) throw new Error('unavailable')
      return subject.stats
    }
    const store = { ...subject.store, stats }
    const monitor = createStoreMonitor({ ...subject, store, log: quiet, feedReaders: [] })
    t.after(monitor.close)
    await assert.rejects(monitor.report(), /unavailable/)
    isFailing = false
    assert.equal((await monitor.report())?.stats.position, 0)
  })
})

describe('the samples of the size', () => {
  it('are written once per period, whichever replica comes first', async () => {
    const { kv } = memoryStore({ now: () => day })
    const [one, other] = [createStoreSamples(kv), createStoreSamples(kv)]
    await one.add({ at: day, bytes: 1, tasks: 1 })
    await other.add({ at: day + 1_000, bytes: 2, tasks: 2 })
    const later = { at: day + hourMs, bytes: 11, tasks: 1 }
    assert.deepEqual(await other.growth(later, hourMs), { bytes: 10, tasks: 0 })
  })
})
