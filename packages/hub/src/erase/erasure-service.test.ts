import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, type FullStore } from '@parley/a2a'
import { createErasureService } from './erasure-service.ts'

describe('an erasure', () => {
  it('is finished if the compaction fails, and the receipt has the reason', async () => {
    const memory = memoryStore()
    const compact = () => Promise.reject(new Error('canceling statement due to lock timeout'))
    const store: FullStore = { ...memory, erasure: { ...memory.erasure, compact } }
    const finished = Promise.withResolvers<void>()
    const service = createErasureService({
      store,
      log: { info() {}, warn: (message, fields) => finished.reject(fields?.['cause'] ?? message) },
      now: Date.now,
      receiptMs: () => 1_000_000,
      onProgress: ({ state }) => state === 'done' && finished.resolve(),
    })
    const { id } = await service.request({ caller: 'alice', requestedBy: 'operator', compact: true })
    await finished.promise
    const receipt = await service.get(id)
    assert.deepEqual(receipt?.compaction, { isDone: false, reason: 'canceling statement due to lock timeout' })
    assert.equal(receipt?.caller, undefined)
    await service.close()
  })
})
