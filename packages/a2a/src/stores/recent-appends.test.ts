import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRecentAppends } from './recent-appends.ts'
import type { Append } from './store.ts'

const records: Append['records'] = [
  { at: 1, body: { type: 'note', text: 'a' } },
  { at: 2, body: { type: 'note', text: 'b' } },
]
const taken = (firstSeq: number) => records.map((record, index) => ({ seq: firstSeq + index, ...record }))

/** With a reader: nothing is kept before the first `take`. */
function withReader() {
  const recent = createRecentAppends()
  assert.equal(recent.take('none', 1), undefined)
  return recent
}

describe('recent appends', () => {
  it('are returned once, with their seqs, after the commit', () => {
    const recent = withReader()
    recent.add('t', 3, records, 100)
    assert.equal(recent.take('t', 3), undefined)
    recent.commit()
    assert.deepEqual(recent.take('t', 3), taken(3))
    assert.equal(recent.take('t', 3), undefined)
  })

  it('of a transaction that was rolled back are forgotten', () => {
    const recent = withReader()
    recent.add('t', 1, records, 100)
    recent.rollback()
    recent.commit()
    assert.equal(recent.take('t', 1), undefined)
  })

  it('are not kept before there is a reader', () => {
    const recent = createRecentAppends()
    recent.add('t', 1, records, 100)
    recent.commit()
    assert.equal(recent.take('t', 1), undefined)
  })

  it('are not kept if they are large, or after a clear', () => {
    const recent = withReader()
    recent.add('large', 1, records, 1_000_000)
    recent.add('small', 1, records, 100)
    recent.commit()
    assert.equal(recent.take('large', 1), undefined)
    recent.clear()
    assert.equal(recent.take('small', 1), undefined)
  })

  it('are dropped when the reader falls behind, and kept again when it is back', () => {
    const recent = withReader()
    for (let task = 0; task < 100; task += 1) {
      recent.add(`t${task}`, 1, records, 90_000)
      recent.commit()
    }
    assert.equal(recent.take('t0', 1), undefined)
    assert.equal(recent.take('t99', 1), undefined)
    recent.add('next', 1, records, 100)
    recent.commit()
    assert.deepEqual(recent.take('next', 1), taken(1))
  })
})
