import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamItem } from '../../engine/contract.ts'
import { endableStream } from './endable-stream.ts'

const item = { seq: 1, final: false } as StreamItem

/** Sends one batch, then nothing more until it is released. */
function source() {
  const letGo = Promise.withResolvers<void>()
  let sent = 0
  const stream = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        sent += 1
        if (sent > 1) await letGo.promise
        return sent > 1 ? { done: true as const, value: undefined } : { done: false as const, value: [item] }
      },
      async return() {
        letGo.resolve()
        return { done: true as const, value: undefined }
      },
    }),
  }
  return { stream, released: letGo.promise }
}

describe('an endable stream', () => {
  it('ends while its reader waits, with the reason, and closes its source', async () => {
    const { stream, released } = source()
    const endable = endableStream(stream)
    const reader = endable.stream[Symbol.asyncIterator]()
    assert.deepEqual(await reader.next(), { done: false, value: [item] })
    endable.check()
    const waiting = reader.next()
    endable.end(new Error('revoked'))
    endable.end(new Error('again'))
    await assert.rejects(waiting, /revoked/)
    await assert.rejects(reader.next(), /revoked/)
    assert.throws(endable.check, /revoked/)
    await released
  })

  it('is the same stream until it is ended', async () => {
    const { stream, released } = source()
    const reader = endableStream(stream).stream[Symbol.asyncIterator]()
    await reader.next()
    const last = reader.next()
    await reader.return?.()
    assert.equal((await last).done, true)
    await released
  })
})
