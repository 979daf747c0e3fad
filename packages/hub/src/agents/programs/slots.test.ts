import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSlots } from './slots.ts'

const never = new AbortController().signal

describe('slots', () => {
  it('are had in the order they were asked for, and by nobody who comes in between', async () => {
    const slots = createSlots(1)
    const order: string[] = []
    const release = await slots.take(never)
    const taking = ['one', 'two'].map(async (name) => {
      const done = await slots.take(never)
      order.push(name)
      done()
    })
    assert.equal(slots.isWanted, true)
    release()
    // Whoever comes now finds it free and yet taken.
    const late = slots.take(never)
    await Promise.all(taking)
    order.push('late')
    const done = await late
    done()
    assert.deepEqual(order, ['one', 'two', 'late'])
    assert.deepEqual([slots.isWanted, slots.isFull], [false, false])
  })

  it('are given back once, however often one says so', async () => {
    const slots = createSlots(2)
    const release = await slots.take(never)
    release()
    release()
    await slots.take(never)
    await slots.take(never)
    assert.equal(slots.isFull, true)
  })

  it('are waited for no longer by whoever is told to stop', async () => {
    const slots = createSlots(1)
    const release = await slots.take(never)
    const leaving = new AbortController()
    const waiting = slots.take(leaving.signal)
    leaving.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    await assert.rejects(slots.take(leaving.signal), /enough/)
    assert.equal(slots.isWanted, false)
    release()
    assert.equal(slots.isFull, false)
  })
})
