import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeyedMutex } from './semaphore.ts'

const never = new AbortController().signal

describe('holders of one key', () => {
  it('go one after the other, in the order they came', async () => {
    const mutex = createKeyedMutex()
    const order: number[] = []
    const first = await mutex.acquire('s', never)
    const others = [1, 2].map(async (index) => {
      const leave = await mutex.acquire('s', never)
      order.push(index)
      leave()
    })
    await Promise.resolve()
    assert.deepEqual(order, [])
    first()
    await Promise.all(others)
    assert.deepEqual(order, [1, 2])
  })

  it('do not wait for those of another', async () => {
    const mutex = createKeyedMutex()
    await mutex.acquire('a', never)
    await mutex.acquire('b', never)
  })

  it('that abort while they wait do not block others', async () => {
    const mutex = createKeyedMutex()
    const first = await mutex.acquire('s', never)
    const leaving = new AbortController()
    const second = mutex.acquire('s', leaving.signal)
    const third = mutex.acquire('s', never)
    leaving.abort(new Error('gone'))
    await assert.rejects(second, /gone/)
    first()
    await third
  })
})
