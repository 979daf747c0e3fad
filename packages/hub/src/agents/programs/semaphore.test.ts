import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSemaphore } from './semaphore.ts'

const never = new AbortController().signal

describe('semaphore slots', () => {
  it('are granted in the order of the requests, without overtaking', async () => {
    const slots = createSemaphore(1)
    const order: string[] = []
    const release = await slots.acquire(never)
    const taking = ['one', 'two'].map(async (name) => {
      const done = await slots.acquire(never)
      order.push(name)
      done()
    })
    assert.equal(slots.hasWaiters, true)
    release()
    // A caller that arrives now finds a free slot that is already assigned.
    const late = slots.acquire(never)
    await Promise.all(taking)
    order.push('late')
    const done = await late
    done()
    assert.deepEqual(order, ['one', 'two', 'late'])
    assert.deepEqual([slots.hasWaiters, slots.isFull], [false, false])
  })

  it('are released once, however often release is called', async () => {
    const slots = createSemaphore(2)
    const release = await slots.acquire(never)
    release()
    release()
    await slots.acquire(never)
    await slots.acquire(never)
    assert.equal(slots.isFull, true)
  })

  it('are no longer awaited by an aborted caller', async () => {
    const slots = createSemaphore(1)
    const release = await slots.acquire(never)
    const leaving = new AbortController()
    const waiting = slots.acquire(leaving.signal)
    leaving.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    await assert.rejects(slots.acquire(leaving.signal), /enough/)
    assert.equal(slots.hasWaiters, false)
    release()
    assert.equal(slots.isFull, false)
  })
})
