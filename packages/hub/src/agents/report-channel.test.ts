import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { streamReports } from './report-channel.ts'

describe('reports of work that goes on at once', () => {
  it('come one after the other, and the work waits until each was taken', async () => {
    const taken: string[] = []
    const reports = streamReports(async (say) => {
      const both = ['a', 'b'].map(async (text) => {
        await say(text)
        taken.push(text)
      })
      await Promise.all(both)
      await say('c')
    })
    const iterator = reports[Symbol.asyncIterator]()
    assert.deepEqual(await iterator.next(), { done: false, value: 'a' })
    assert.deepEqual(taken, [])
    assert.deepEqual(await iterator.next(), { done: false, value: 'b' })
    assert.deepEqual(taken, ['a'])
    assert.deepEqual(await iterator.next(), { done: false, value: 'c' })
    assert.equal((await iterator.next()).done, true)
  })

  it('end with what the work fails of, after what it said', async () => {
    const received: unknown[] = []
    const reports = streamReports(async (say) => {
      await say('one')
      throw new Error('no more')
    })
    await assert.rejects(async () => {
      for await (const report of reports) received.push(report)
    }, /no more/)
    assert.deepEqual(received, ['one'])
  })

  it('do not block once the reader has stopped', async () => {
    const finished = Promise.withResolvers<void>()
    const reports = streamReports(async (say) => {
      await Promise.all([say('a'), say('b')])
      await say('c')
      finished.resolve()
    })
    for await (const _ of reports) break
    await finished.promise
  })
})
