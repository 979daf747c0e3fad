import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { scrollOffsetFor, visibleRows } from './visible-rows.ts'

const even = { count: 10_000, rowHeight: 40, measured: new Map<number, number>() }

describe('the rows of a long list that are drawn', () => {
  it('are the visible ones and a few on either side, whatever the length', () => {
    assert.deepEqual(visibleRows(even, 0, 400), { first: 0, end: 17, top: 0, height: 400_000 })
    assert.deepEqual(visibleRows(even, 200_000, 400), { first: 4_994, end: 5_017, top: 199_760, height: 400_000 })
    assert.equal(visibleRows(even, 400_000, 400).end, 10_000)
  })

  it('account for higher rows', () => {
    const opened = { ...even, measured: new Map([[10, 240]]) }
    assert.equal(visibleRows(opened, 0, 400).height, 400_200)
    assert.equal(visibleRows(opened, 1_000, 400).first, 14)
    // In the middle of the high row.
    assert.equal(visibleRows(opened, 500, 40).first, 4)
  })

  it('are none of an empty list', () => {
    assert.deepEqual(visibleRows({ ...even, count: 0 }, 0, 400), { first: 0, end: 0, top: 0, height: 0 })
  })
})

describe('a row that is selected', () => {
  it('is scrolled into view by the minimum', () => {
    assert.equal(scrollOffsetFor(even, 3, 0, 400), undefined)
    assert.equal(scrollOffsetFor(even, 10, 0, 400), 40)
    assert.equal(scrollOffsetFor(even, 2, 200, 400), 80)
  })
})
