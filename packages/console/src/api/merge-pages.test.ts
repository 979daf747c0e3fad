import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mergeFirstPage, countAbove, appendPage } from './merge-pages.ts'

const keyOf = (text: string): string => text[0] ?? ''
const pages = (items: string, before?: number) => ({ items: items.split(' ').filter(Boolean), before })

describe('a list that is loaded page by page', () => {
  it('keeps what was further down when its beginning is looked at again', () => {
    assert.deepEqual(mergeFirstPage(pages('z a2 b', 7), pages('a b c d', 9), keyOf), pages('z a2 b c d', 9))
  })

  it('begins anew where what is known does not follow, and ends where there is no more', () => {
    assert.deepEqual(mergeFirstPage(pages('x y', 7), pages('a b c', 9), keyOf), pages('x y', 7))
    assert.deepEqual(mergeFirstPage(pages('x y'), pages('x y c', 9), keyOf), pages('x y'))
    assert.deepEqual(mergeFirstPage(pages(''), pages('a'), keyOf), pages(''))
  })

  it('has nothing twice when a page is added', () => {
    assert.deepEqual(appendPage(pages('a b', 2), pages('b c', 3), keyOf), pages('a b c', 3))
  })

  it('knows how many came above what one reads', () => {
    assert.equal(countAbove(['y', 'z', 'a'], 'a', keyOf), 2)
    assert.equal(countAbove(['a'], 'a', keyOf), 0)
    assert.equal(countAbove(['b'], 'a', keyOf), 0)
    assert.equal(countAbove(['b'], undefined, keyOf), 0)
  })
})
