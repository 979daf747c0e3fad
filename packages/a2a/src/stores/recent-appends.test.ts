import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRecentAppends, type RecentAppends } from './recent-appends.ts'
import type { Append, FeedEntry } from './store.ts'

const records: Append['records'] = [
  { at: 1, body: { type: 'note', text: 'a' } },
  { at: 2, body: { type: 'note', text: 'b' } },
]
const entryAt = (position: number): FeedEntry => ({
  ...{ position, tenant: '', agent: 'a', owner: 'o', taskId: `t${position}`, firstSeq: 3, lastSeq: 4 },
})

/** Which of these positions have their records, for a reader that has reached `position`. */
function recordedAfter(recent: RecentAppends, position: number, ...positions: readonly number[]): readonly number[] {
  const entries = recent.addRecords(position, positions.map(entryAt))
  return entries.flatMap((entry) => (entry.records === undefined ? [] : [entry.position]))
}

/** Nothing is kept before a reader reads for the first time. */
function withReader(): RecentAppends {
  const recent = createRecentAppends()
  recent.addRecords(10, [])
  return recent
}

function append(recent: RecentAppends, ...positions: readonly number[]): void {
  for (const position of positions) recent.add(entryAt(position), records, 100)
}

describe('recent appends', () => {
  it('give entries their records until the reader has moved on', () => {
    const recent = withReader()
    append(recent, 12, 13, 15)
    const [entry] = recent.addRecords(10, [entryAt(12)])
    assert.deepEqual(entry, {
      ...entryAt(12),
      records: records.map((record, index) => ({ seq: 3 + index, ...record })),
    })
    assert.deepEqual(recordedAfter(recent, 10, 11, 12, 13, 15), [12, 13, 15])
    assert.deepEqual(recordedAfter(recent, 13, 15), [15])
    assert.deepEqual(recordedAfter(recent, 10, 12, 13, 15), [15])
  })

  it('are recognized by their position, their task and their seqs', () => {
    const recent = withReader()
    append(recent, 12)
    const others = [
      { ...entryAt(12), taskId: 'another' },
      { ...entryAt(12), lastSeq: 5 },
    ]
    for (const entry of recent.addRecords(10, others)) assert.equal(entry.records, undefined)
  })

  it('are not kept before there is a reader', () => {
    const recent = createRecentAppends()
    append(recent, 11)
    assert.deepEqual(recordedAfter(recent, 10, 11), [])
    append(recent, 12)
    assert.deepEqual(recordedAfter(recent, 10, 11, 12), [12])
  })

  it('are kept within a limit of bytes and of entries, until the reader is back', () => {
    for (const [count, size] of [
      [10_001, 1],
      [90, 99_000],
    ] as const) {
      const recent = withReader()
      for (let n = 1; n <= count; n += 1) recent.add(entryAt(10 + n), records, size)
      append(recent, 50_000)
      assert.deepEqual(recordedAfter(recent, 10, 11, 10 + count, 50_000), [])
      append(recent, 50_001)
      assert.deepEqual(recordedAfter(recent, 10, 50_001), [50_001])
    }
  })

  it('have no large records, which would displace many small ones', () => {
    const recent = withReader()
    recent.add(entryAt(11), records, 100_001)
    append(recent, 12)
    assert.deepEqual(recordedAfter(recent, 10, 11, 12), [12])
  })

  it('can be forgotten', () => {
    const recent = withReader()
    append(recent, 11)
    recent.clear()
    assert.deepEqual(recordedAfter(recent, 10, 11), [])
  })
})
