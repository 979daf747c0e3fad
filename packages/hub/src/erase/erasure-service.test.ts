import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
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

  it('keeps its lease during a long search that finds nothing', async () => {
    const memory = memoryStore()
    for (let n = 0; n < 250; n += 1)
      await memory.kv.write('audit', { key: String(n).padStart(6, '0'), value: [{ at: n, event: 'call', who: 'bob' }] })
    let time = Date.UTC(2030, 0, 1)
    let heldUntil = Infinity
    let shortest = Infinity
    const list: FullStore['kv']['list'] = async (kind, query) => {
      if (kind === 'audit') {
        // Each page takes 20 seconds.
        time += 20_000
        shortest = Math.min(shortest, heldUntil - time)
      }
      return memory.kv.list(kind, query)
    }
    const finished = Promise.withResolvers<void>()
    const service = createErasureService({
      store: { ...memory, kv: { ...memory.kv, list } },
      log: { info() {}, warn: (message, fields) => finished.reject(fields?.['cause'] ?? message) },
      now: () => time,
      receiptMs: () => 86_400_000,
      onProgress(record) {
        heldUntil = record.heldUntil ?? Infinity
        if (record.state === 'done') finished.resolve()
      },
    })
    await service.request({ caller: 'alice', requestedBy: 'operator', compact: false })
    await finished.promise
    assert.ok(shortest > 0 && shortest < Infinity, `${shortest} ms`)
    await service.close()
  })
})
