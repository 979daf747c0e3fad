import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSessions } from './sessions.ts'

const never = new AbortController().signal

describe('turns of one session', () => {
  it('go one after the other, in the order they came', async () => {
    const sessions = createSessions()
    const order: number[] = []
    const first = await sessions.enter('s', never)
    const others = [1, 2].map(async (index) => {
      const leave = await sessions.enter('s', never)
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
    const sessions = createSessions()
    await sessions.enter('a', never)
    await sessions.enter('b', never)
  })

  it('that leave while they wait hold nobody up', async () => {
    const sessions = createSessions()
    const first = await sessions.enter('s', never)
    const leaving = new AbortController()
    const second = sessions.enter('s', leaving.signal)
    const third = sessions.enter('s', never)
    leaving.abort(new Error('gone'))
    await assert.rejects(second, /gone/)
    first()
    await third
  })
})
