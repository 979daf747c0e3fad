import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRecentStats } from './live-activity.ts'

describe('the last hour', () => {
  it('has sixty minutes, the one that is not over last', () => {
    const minute = 60_000
    let at = 1_000_000 * minute
    let streams = 0
    const pulse = createRecentStats(
      () => at,
      () => streams,
    )
    for (let n = 0; n < 99; n += 1) pulse.onAnswer({ status: 200, durationMs: 10 })
    streams = 3
    pulse.onAnswer({ status: 503, durationMs: 5_000 })
    streams = 1
    at += minute
    pulse.onAnswer({ status: 404, durationMs: 0 })
    const beats = pulse.read()
    assert.equal(beats.length, 60)
    const [before, now] = beats.slice(-2)
    assert.deepEqual([before?.requests, before?.errors, before?.streams], [100, 1, 3])
    assert.ok((before?.p50Ms ?? 0) >= 10 && (before?.p50Ms ?? 0) <= 12.5)
    assert.ok((before?.p99Ms ?? 0) <= 12.5)
    assert.deepEqual(now, { at, requests: 1, errors: 0, streams: 1, p50Ms: 1, p99Ms: 1 })
    assert.deepEqual(beats[0], { at: at - 59 * minute, requests: 0, errors: 0, streams: 0 })
  })

  it('forgets what was an hour ago, and begins each minute anew', () => {
    let at = 5_000_000 * 60_000
    const pulse = createRecentStats(
      () => at,
      () => 0,
    )
    pulse.onAnswer({ status: 200, durationMs: 1 })
    at += 60 * 60_000
    assert.equal(
      pulse.read().reduce((sum, { requests }) => sum + requests, 0),
      0,
    )
    pulse.onAnswer({ status: 200, durationMs: 1e9 })
    assert.equal(pulse.read().at(-1)?.requests, 1)
  })
})
