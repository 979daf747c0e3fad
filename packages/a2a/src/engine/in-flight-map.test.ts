import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { InFlightMap } from './in-flight-map.ts'

describe('a map for short-lived entries', () => {
  it('returns the last value, and nothing for removed keys', () => {
    const map = new InFlightMap<{ n: number }>()
    map.set('a', { n: 1 })
    map.set('a', { n: 2 })
    assert.equal(map.get('a')?.n, 2)
    assert.equal(map.size, 1)
    map.delete('a')
    map.delete('never there')
    assert.equal(map.get('a'), undefined)
    assert.equal(map.size, 0)
  })

  it('iterates in insertion order, also while entries are removed and added', () => {
    const map = new InFlightMap<{ n: number }>()
    for (let n = 0; n < 5; n += 1) map.set(String(n), { n })
    const seen: number[] = []
    for (const { n } of map.values()) {
      seen.push(n)
      map.delete(String(n))
      map.delete(String(n + 1))
      if (n === 4) map.set('9', { n: 9 })
    }
    assert.deepEqual(seen, [0, 2, 4, 9])
  })

  it('frees removed entries without waiting for a full collection', () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void
    const map = new InFlightMap<object>()
    collect()
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 20_000; n += 1) {
      map.set(String(n), { large: Array.from({ length: 200 }, () => n) })
      if (n >= 10) map.delete(String(n - 10))
      if (n % 50 === 0) collect({ type: 'minor' })
    }
    collect({ type: 'minor' })
    collect({ type: 'minor' })
    // A Map retains 16 MB here, and this less than 2.
    assert.ok(process.memoryUsage().heapUsed - before < 6_000_000)
  })
})
