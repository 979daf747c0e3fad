import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diffCards } from './card-diff.ts'

describe('two compared cards', () => {
  it('list the members that only one has, and those that differ', () => {
    const { onlyLeft, onlyRight, changed } = diffCards(
      { name: 'a', supportedInterfaces: [], skills: [1], version: '1' },
      { name: 'a', url: 'x', skills: [2], version: '1' },
    )
    assert.deepEqual([onlyLeft, onlyRight, changed], [['supportedInterfaces'], ['url'], ['skills']])
  })

  it('mark differing lines with everything below them', () => {
    const { left, right } = diffCards(
      { a: { b: [1, 2], c: 1 }, 'x-y': { z: 1 } },
      { a: { b: [1, 3, 4], c: 1 }, d: true },
    )
    assert.deepEqual([...left], ['a.b[1]', '"x-y"', '"x-y".z'])
    assert.deepEqual([...right], ['a.b[1]', 'a.b[2]', 'd'])
  })

  it('ignore the order of members', () => {
    const { left, right, changed } = diffCards(
      { a: { b: 1, c: [{ d: 1, e: 2 }] } },
      { a: { c: [{ e: 2, d: 1 }], b: 1 } },
    )
    assert.deepEqual([left.size, right.size, changed.length], [0, 0, 0])
  })

  it('distinguish a list from an object, and null from a value', () => {
    assert.deepEqual(diffCards({ a: [] }, { a: {} }).changed, ['a'])
    assert.deepEqual([...diffCards({ a: null }, { a: { b: 1 } }).right], ['a', 'a.b'])
    assert.deepEqual([...diffCards(undefined, { a: 1 }).right], ['', 'a'])
  })
})
