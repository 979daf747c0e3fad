import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseCsv } from './csv.ts'

describe('a CSV', () => {
  it('has rows named by its header', () => {
    assert.deepEqual(parseCsv('city,people\r\nLisbon,545000\r\nOslo,717000\r\n'), [
      { city: 'Lisbon', people: '545000' },
      { city: 'Oslo', people: '717000' },
    ])
  })

  it('has cells with separators, quotes and newlines', () => {
    assert.deepEqual(parseCsv('a,b\n"x, y","he said ""no""\nand left"\n'), [{ a: 'x, y', b: 'he said "no"\nand left' }])
  })

  it('may have semicolons or tabs as separators', () => {
    assert.deepEqual(parseCsv('a;b\n1,5;x'), [{ a: '1,5', b: 'x' }])
    assert.deepEqual(parseCsv('a\tb\n1\tx, y'), [{ a: '1', b: 'x, y' }])
  })

  it('may have a short row, a byte order mark, and repeated or empty column names', () => {
    assert.deepEqual(parseCsv('\uFEFFa,b\n1,2\n3'), [
      { a: '1', b: '2' },
      { a: '3', b: '' },
    ])
    assert.deepEqual(Object.keys(parseCsv('a,a,\n1,2,3')?.[0] ?? {}), ['a', 'a (2)', 'column 3'])
  })

  it('is not a table with one, no or too many columns, or with rows longer than its header', () => {
    for (const text of ['', 'a\n1', 'a,b', 'a,b\n1,2,3', `${'x,'.repeat(30)}\n1`]) {
      assert.equal(parseCsv(text), undefined, text)
    }
  })

  it('accepts column names that objects reserve', () => {
    const [row] = parseCsv('__proto__,constructor\n1,2') ?? []
    assert.deepEqual(Object.entries(row ?? {}), [
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })
})
