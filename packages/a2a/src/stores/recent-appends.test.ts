import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRecentAppends, type RecentAppends } from './recent-appends.ts'
import type { Append } from './store.ts'

const records: Append['records'] = [
  { at: 1, body: { type: 'note', text: 'a' } },
  { at: 2, body: { type: 'note', text: 'b' } },
]
const entryAt = (position: number) => ({
  ...{ position, tenant: '', agent: 'a', owner: 'o', taskId: `t${position}`, firstSeq: 3, lastSeq: 4 },
})
const takenAt = (position: number) => ({
  ...entryAt(position),
  records: records.map((record, index) => ({ seq: 3 + index, ...record })),
})
const positionsAfter = (recent: RecentAppends, position: number) =>
  recent.takeAfter(position, 1_000)?.map((entry) => entry.position)

/** With a reader at the end of the feed, which is at 10: nothing is kept before it takes for the first time. */
function withReader(): RecentAppends {
  const recent = createRecentAppends(10)
  assert.deepEqual(recent.takeAfter(10, 1), [])
  return recent
}

function append(recent: RecentAppends, ...positions: readonly number[]): void {
  recent.begin()
  for (const position of positions) recent.add(entryAt(position), records, 100)
  recent.commit()
}

describe('recent appends', () => {
  it('are returned with their records after the commit, and until the reader has moved on', () => {
    const recent = withReader()
    recent.begin()
    recent.add(entryAt(12), records, 100)
    assert.deepEqual(recent.takeAfter(10, 1), [])
    recent.commit()
    append(recent, 13, 15)
    assert.deepEqual(recent.takeAfter(10, 2), [takenAt(12), takenAt(13)])
    assert.deepEqual(positionsAfter(recent, 10), [12, 13, 15])
    assert.deepEqual(positionsAfter(recent, 13), [15])
    assert.deepEqual(positionsAfter(recent, 15), [])
    // Dropped: a reader that goes back reads the store.
    assert.equal(recent.takeAfter(10, 1), undefined)
  })

  it('are not kept before there is a reader', () => {
    const recent = createRecentAppends(10)
    append(recent, 11)
    assert.equal(recent.takeAfter(10, 1), undefined)
    append(recent, 12)
    assert.equal(recent.takeAfter(10, 1), undefined)
    assert.deepEqual(positionsAfter(recent, 11), [12])
  })

  it('of a transaction that was rolled back are forgotten', () => {
    const recent = withReader()
    append(recent, 11)
    recent.begin()
    recent.add(entryAt(12), records, 100)
    recent.rollback()
    append(recent, 13)
    assert.deepEqual(positionsAfter(recent, 10), [11, 13])
  })

  it('of a transaction whose part was rolled back are read from the store: which part is not known', () => {
    const recent = withReader()
    recent.begin()
    recent.add(entryAt(11), records, 100)
    recent.rollback()
    recent.add(entryAt(12), records, 100)
    recent.commit()
    append(recent, 13)
    assert.equal(recent.takeAfter(10, 1), undefined)
    assert.deepEqual(positionsAfter(recent, 12), [13])
  })

  it('have no records if they are large', () => {
    const recent = withReader()
    recent.begin()
    recent.add(entryAt(11), records, 1_000_000)
    recent.commit()
    assert.deepEqual(recent.takeAfter(10, 1), [entryAt(11)])
  })

  it('are not kept after a clear', () => {
    const recent = withReader()
    append(recent, 11)
    recent.clear()
    assert.equal(recent.takeAfter(10, 1), undefined)
    append(recent, 12)
    assert.deepEqual(positionsAfter(recent, 11), [12])
  })

  it('are dropped when the reader falls behind, and kept again when it is back', () => {
    const recent = withReader()
    for (let position = 11; position <= 110; position += 1) {
      recent.begin()
      recent.add(entryAt(position), records, 90_000)
      recent.commit()
    }
    assert.equal(recent.takeAfter(10, 1), undefined)
    assert.equal(recent.takeAfter(109, 1), undefined)
    append(recent, 111)
    assert.deepEqual(positionsAfter(recent, 110), [111])
  })
})
