import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSessionLocks } from './session-locks.ts'

const never = new AbortController().signal

describe('turns of one session', () => {
  it('go one after the other, in the order they came', async () => {
    const sessions = createSessionLocks()
    const order: number[] = []
    const first = await sessions.acquire('s', never)
    const others = [1, 2].map(async (index) => {
      const leave = await sessions.acquire('s', never)
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
    const sessions = createSessionLocks()
    await sessions.acquire('a', never)
    await sessions.acquire('b', never)
  })

  it('that abort while they wait do not block others', async () => {
    const sessions = createSessionLocks()
    const first = await sessions.acquire('s', never)
    const leaving = new AbortController()
    const second = sessions.acquire('s', leaving.signal)
    const third = sessions.acquire('s', never)
    leaving.abort(new Error('gone'))
    await assert.rejects(second, /gone/)
    first()
    await third
  })
})
