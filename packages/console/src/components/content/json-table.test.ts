import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { previewOf } from './json-preview.ts'
import { cellText, compareCells, isFlatTable, isNumericColumn, isObjectList, tableColumns } from './json-table.ts'

describe('the preview of a collapsed value', () => {
  it('shows its first entries', () => {
    assert.equal(previewOf({ a: 1, b: 'x' }), '{a: 1, b: "x"}')
    assert.equal(
      previewOf({ 'a b': null, c: { d: 1 }, e: [1], f: {}, g: [] }),
      '{"a b": null, c: {…}, e: […], f: {}, g: []}',
    )
    assert.equal(previewOf([1, 'two', true, { a: 1 }]), '[1, "two", true, {…}]')
    assert.equal(previewOf({}), '{}')
    assert.equal(previewOf([]), '[]')
  })

  it('is short, however large the value', () => {
    assert.equal(previewOf({ a: 1, b: 2, c: 3 }, 8), '{a: 1, …}')
    assert.equal(previewOf(['x'.repeat(1_000)]), `["${'x'.repeat(32)}…"]`)
    assert.ok(previewOf(Array.from({ length: 100_000 }, (_, index) => index)).length < 80)
    assert.ok(previewOf({ ['k'.repeat(1_000)]: 1 }).length < 80)
  })
})

describe('a list of objects', () => {
  it('is a table if it has few enough columns, and flat if its cells are plain', () => {
    const wide = [Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`c${index}`, 1]))]
    for (const other of [[], [{}], [{ a: 1 }, 2], [[1]], wide, { a: 1 }, null, 'a']) {
      assert.equal(isObjectList(other), false, JSON.stringify(other))
    }
    assert.equal(isObjectList([{ a: { b: 1 } }]), true)
    assert.equal(isFlatTable([{ a: { b: 1 } }]), false)
    assert.equal(isFlatTable([{ a: 1 }, { b: null }]), true)
    assert.deepEqual(tableColumns([{ a: 1 }, { b: 2, a: 3 }]), ['a', 'b'])
  })

  it('aligns numbers, and previews nested cells', () => {
    const rows = [{ n: 1, t: '1', x: 'a' }, { t: '2.5' }]
    assert.deepEqual(
      ['n', 't', 'x'].map((name) => isNumericColumn(rows, name, false)),
      [true, false, false],
    )
    assert.equal(isNumericColumn(rows, 't', true), true)
    assert.deepEqual([null, undefined, 0, { a: [1] }].map(cellText), ['', '', '0', '{a: […]}'])
  })

  it('sorts numbers as numbers, and missing values last', () => {
    assert.deepEqual([10, 9, undefined, 100].toSorted(compareCells), [9, 10, 100, undefined])
    assert.deepEqual(['item 10', '', 'item 9'].toSorted(compareCells), ['item 9', 'item 10', ''])
  })
})
