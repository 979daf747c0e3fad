import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFairQueue, type ReleaseSlot } from './fair-queue.ts'

const never = new AbortController().signal

/** Records each caller that acquires a slot, and holds it until the test releases it. */
function office(places: number) {
  const queue = createFairQueue(places)
  const order: string[] = []
  const inside: ReleaseSlot[] = []
  const come = (who: string, signal = never): Promise<void> =>
    queue.acquire(who.slice(0, 1), signal).then((leave) => {
      order.push(who)
      inside.push(leave)
    })
  const next = async (): Promise<void> => {
    inside.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { queue, order, come, next }
}

describe('the fair queue', () => {
  it('takes callers in turn, and each one in the order of coming', async () => {
    const { order, come, next } = office(1)
    for (const who of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void come(who)
    for (let count = 0; count < 7; count++) await next()
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('runs as many as there are slots, and no caller overtakes the queue', async () => {
    const { queue, come, next } = office(2)
    await come('a1')
    for (const who of ['a2', 'a3']) void come(who)
    await next()
    assert.deepEqual([queue.running, queue.waiting], [2, 0])
    assert.equal(queue.tryAcquire(), undefined)
    await next()
    const leave = queue.tryAcquire()
    assert.equal(queue.running, 2)
    leave?.()
    leave?.()
    assert.equal(queue.running, 1, 'a place was given back twice')
  })

  it('removes a caller that leaves the queue at once', async () => {
    const { queue, order, come, next } = office(1)
    const leaving = new AbortController()
    await come('a1')
    const gone = come('b1', leaving.signal)
    void come('c1')
    leaving.abort(new Error('no more patience'))
    await assert.rejects(gone, /no more patience/)
    assert.equal(queue.waiting, 1)
    await next()
    assert.deepEqual(order, ['a1', 'c1'])
    await assert.rejects(come('d1', leaving.signal), /no more patience/)
  })
})
