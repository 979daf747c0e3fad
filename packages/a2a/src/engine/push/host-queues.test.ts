import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createHostQueues } from './push-scheduler.ts'

/** Work that ends when the test ends it. */
function createWork() {
  const started: string[] = []
  const ends = new Map<string, (went: boolean) => void>()
  return {
    started,
    of: (name: string) => () => {
      started.push(name)
      return new Promise<boolean>((resolve) => ends.set(name, resolve))
    },
    async end(name: string, went = true) {
      ends.get(name)?.(went)
      await turn()
    },
  }
}

const options = { concurrent: 4, concurrentPerHost: 2, waitingPerHost: 3 }

describe('host queues', () => {
  it('let a slow host use only its own slots [B-127]', async () => {
    const lanes = createHostQueues(options)
    const work = createWork()
    for (const name of ['slow 1', 'slow 2', 'slow 3']) lanes.add('slow', work.of(name))
    lanes.add('quick', work.of('quick 1'))
    assert.deepEqual(work.started, ['slow 1', 'slow 2', 'quick 1'])
    await work.end('quick 1')
    lanes.add('quick', work.of('quick 2'))
    assert.deepEqual(work.started, ['slow 1', 'slow 2', 'quick 1', 'quick 2'])
    await work.end('slow 2')
    assert.equal(work.started.at(-1), 'slow 3')
  })

  it('give a failed host one slot until it responds again', async () => {
    const lanes = createHostQueues(options)
    const work = createWork()
    for (const name of ['1', '2', '3', '4']) lanes.add('host', work.of(name))
    await work.end('1', false)
    await work.end('2', false)
    assert.deepEqual(work.started, ['1', '2', '3'])
    await work.end('3')
    lanes.add('host', work.of('5'))
    assert.deepEqual(work.started, ['1', '2', '3', '4', '5'])
  })

  it('share all slots among the waiting hosts', async () => {
    const lanes = createHostQueues({ ...options, concurrent: 1 })
    const work = createWork()
    for (const name of ['a 1', 'a 2']) lanes.add('a', work.of(name))
    lanes.add('b', work.of('b 1'))
    await work.end('a 1')
    assert.deepEqual(work.started, ['a 1', 'b 1'])
  })

  it('refuse more than the limit for one host, and accept for another', () => {
    const lanes = createHostQueues(options)
    const work = createWork()
    const taken = Array.from({ length: 6 }, (_, n) => lanes.add('host', work.of(String(n))))
    assert.deepEqual(taken, [true, true, true, true, true, false])
    assert.equal(lanes.add('other', work.of('other')), true)
    assert.equal(lanes.waiting, 3)
  })

  it('drain: accepted work is done, and no more is accepted', async () => {
    const lanes = createHostQueues(options)
    const work = createWork()
    for (const name of ['1', '2', '3']) lanes.add('host', work.of(name))
    let isDrained = false
    const drained = lanes.drain().then(() => (isDrained = true))
    await work.end('1')
    assert.equal(isDrained, false)
    await work.end('2')
    assert.equal(isDrained, false)
    await work.end('3')
    await drained
    assert.equal(lanes.add('host', work.of('late')), false)
  })
})
