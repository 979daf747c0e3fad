import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { joinPages, newAbove, withPage } from './join-pages.ts'

const keyOf = (text: string): string => text[0] ?? ''
const pages = (items: string, before?: number) => ({ items: items.split(' ').filter(Boolean), before })

describe('a list that is loaded page by page', () => {
  it('keeps what was further down when its beginning is looked at again', () => {
    assert.deepEqual(joinPages(pages('z a2 b', 7), pages('a b c d', 9), keyOf), pages('z a2 b c d', 9))
  })

  it('begins anew where what is known does not follow, and ends where there is no more', () => {
    assert.deepEqual(joinPages(pages('x y', 7), pages('a b c', 9), keyOf), pages('x y', 7))
    assert.deepEqual(joinPages(pages('x y'), pages('x y c', 9), keyOf), pages('x y'))
    assert.deepEqual(joinPages(pages(''), pages('a'), keyOf), pages(''))
  })

  it('has nothing twice when a page is added', () => {
    assert.deepEqual(withPage(pages('a b', 2), pages('b c', 3), keyOf), pages('a b c', 3))
  })

  it('knows how many came above what one reads', () => {
    assert.equal(newAbove(['y', 'z', 'a'], 'a', keyOf), 2)
    assert.equal(newAbove(['a'], 'a', keyOf), 0)
    assert.equal(newAbove(['b'], 'a', keyOf), 0)
    assert.equal(newAbove(['b'], undefined, keyOf), 0)
  })
})
