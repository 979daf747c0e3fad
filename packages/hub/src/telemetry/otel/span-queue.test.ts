import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { createSpanQueue, type SpanQueueDeps } from './span-queue.ts'
import { eventually } from '../testing/traced-server.ts'

const span = (name: string) => ({ name }) as ReadableSpan

function open(parts: Partial<SpanQueueDeps> = {}) {
  const batches: string[][] = []
  const waiting: (() => void)[] = []
  let isHeld = false
  let fails = false
  const troubles: unknown[] = []
  const exporter: SpanExporter = {
    export(spans, done) {
      batches.push(spans.map(({ name }) => name))
      const answer = (): void => done(fails ? { code: 1, error: new Error('away') } : { code: 0 })
      if (isHeld) waiting.push(answer)
      else answer()
    },
    async shutdown() {},
  }
  const queue = createSpanQueue({ exporter, onFailure: (cause) => void troubles.push(cause), everyMs: 5, ...parts })
  return {
    queue,
    batches,
    troubles,
    hold: () => (isHeld = true),
    release() {
      isHeld = false
      for (const answer of waiting.splice(0)) answer()
    },
    fail: (does: boolean) => (fails = does),
  }
}

describe('spans on their way to a collector', () => {
  it('go together after a while, or when there are many', async () => {
    const { queue, batches } = open({ batch: 3 })
    queue.onEnd(span('a'))
    queue.onEnd(span('b'))
    assert.deepEqual(batches, [])
    await eventually(() => batches.length === 1)
    for (const name of ['c', 'd', 'e', 'f']) queue.onEnd(span(name))
    await queue.forceFlush()
    assert.deepEqual(batches, [['a', 'b'], ['c', 'd', 'e'], ['f']])
    assert.deepEqual(queue.counts, { exported: 6, dropped: 0, failed: 0 })
  })

  it('queue for a slow collector up to a limit, and then are dropped and counted; no caller waits', async () => {
    const { queue, batches, hold, release } = open({ batch: 2, maxWaiting: 4 })
    hold()
    for (let n = 0; n < 10; n += 1) queue.onEnd(span(String(n)))
    assert.deepEqual([batches.length, queue.counts.dropped], [1, 4])
    release()
    await queue.forceFlush()
    assert.deepEqual(queue.counts, { exported: 6, dropped: 4, failed: 0 })
  })

  it('that the collector refuses are counted, and the failure is reported once until it succeeds again', async () => {
    const { queue, troubles, fail } = open({ batch: 1 })
    fail(true)
    for (const name of ['a', 'b', 'c']) queue.onEnd(span(name))
    await queue.forceFlush()
    assert.deepEqual([queue.counts.failed, troubles.length], [3, 1])
    fail(false)
    queue.onEnd(span('d'))
    await queue.forceFlush()
    fail(true)
    queue.onEnd(span('e'))
    await queue.forceFlush()
    assert.equal(troubles.length, 2)
  })

  it('go at the end, unless that takes too long', async () => {
    const good = open({ everyMs: 60_000 })
    good.queue.onEnd(span('a'))
    await good.queue.shutdown()
    assert.deepEqual(good.batches, [['a']])
    const stuck = open({ everyMs: 60_000, closeMs: 10 })
    stuck.hold()
    stuck.queue.onEnd(span('a'))
    await stuck.queue.shutdown()
    stuck.queue.onEnd(span('late'))
    assert.equal(stuck.queue.counts.dropped, 1)
  })
})
