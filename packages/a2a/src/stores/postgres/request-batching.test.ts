import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSerialQueue, batchRequests } from './request-batching.ts'

describe('queries of one turn of the event loop', () => {
  it('are sent together, in statements of a bounded size, and each gets its own result', async () => {
    const sent: (readonly number[])[] = []
    const double = batchRequests(async (numbers: readonly number[]) => {
      sent.push(numbers)
      return numbers.map((number) => number * 2)
    }, 3)
    assert.deepEqual(await Promise.all([1, 2, 3, 4].map(double)), [2, 4, 6, 8])
    assert.equal(await double(5), 10)
    assert.deepEqual(sent, [[1, 2, 3], [4], [5]])
  })

  it('fail together, and later ones do not', async () => {
    let isBroken = true
    const ask = batchRequests(async (questions: readonly string[]) => {
      if (isBroken) throw new Error('gone')
      return questions
    }, 10)
    const both = await Promise.allSettled([ask('a'), ask('b')])
    assert.deepEqual(
      both.map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    isBroken = false
    assert.equal(await ask('c'), 'c')
  })
})

describe('turns', () => {
  it('are taken one after the other, also after a failure', async () => {
    const turns = createSerialQueue()
    const done: number[] = []
    const work = (n: number) => async (): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve))
      if (n === 1) throw new Error('no')
      done.push(n)
    }
    await Promise.allSettled([turns.take(work(0)), turns.take(work(1)), turns.take(work(2))])
    assert.deepEqual(done, [0, 2])
  })
})
