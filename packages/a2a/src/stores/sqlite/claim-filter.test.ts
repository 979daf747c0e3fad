import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { it } from 'node:test'
import { createClaimFilter, mightContain } from './claim-filter.ts'

const digest = (n: number): string => hash('sha256', String(n), 'binary').slice(0, 16)

it('always matches its members, and rarely anything else', () => {
  for (const count of [100, 16_384]) {
    const known = Array.from({ length: count }, (_, n) => digest(n))
    const filter = createClaimFilter(known, count)
    for (const each of known) assert.equal(mightContain(filter, each), true)
    let wrong = 0
    for (let n = 0; n < 20_000; n += 1) wrong += mightContain(filter, digest(1_000_000 + n)) ? 1 : 0
    // A full one has 12 expected false positives.
    assert.ok(wrong < 60, `${wrong} of 20,000 with ${count}`)
  }
})
