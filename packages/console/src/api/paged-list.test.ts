import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { createPagedList, type PagedList } from './paged-list.ts'

/** An item is a letter, its key, and perhaps a digit, its version. */
type Pages = Record<string, { items: string; before?: number }>
let list: PagedList<string>

function open(pages: Pages): void {
  list = createPagedList<string>({
    keyOf: (item) => item[0] ?? '',
    settleMs: 0,
    load(before) {
      const { items, before: next } = pages[String(before ?? '')] ?? { items: '' }
      return Promise.resolve({ items: items.split(' ').filter(Boolean), before: next })
    },
    onChange: (_, { scheduleRefresh }) => scheduleRefresh(),
  })
}

const shown = (): string | undefined => list.items.value?.join(' ')

/** Resolves when the list shows `items`. */
function waitForItems(items: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = list.items.subscribe((value) => {
      if (value?.join(' ') !== items) return
      resolve()
      queueMicrotask(() => stop())
    })
  })
}

async function openTwoPages(pages: Pages): Promise<void> {
  open(pages)
  await waitForItems('a b')
  list.loadMore()
  await waitForItems('a b c d')
}

describe('a list that is loaded page by page', () => {
  afterEach(() => list.close())
  const twoPages = (): Pages => ({ '': { items: 'a b', before: 2 }, 2: { items: 'b c d', before: 4 } })

  it('keeps the later pages when the first one is loaded again', async () => {
    const pages = twoPages()
    await openTwoPages(pages)
    pages[''] = { items: 'z a2 b', before: 2 }
    list.refresh()
    await waitForItems('z a2 b c d')
    assert.equal(list.hasMore.value, true)
  })

  it('starts over when the first page does not continue what is known', async () => {
    const pages = twoPages()
    await openTwoPages(pages)
    pages[''] = { items: 'x y', before: 7 }
    list.refresh()
    await waitForItems('x y')
  })

  it('shows a complete first page as it is', async () => {
    const pages = twoPages()
    await openTwoPages(pages)
    pages[''] = { items: 'a' }
    list.refresh()
    await waitForItems('a')
    assert.equal(list.hasMore.value, false)
  })

  it('updates rows in place and counts new items while the user reads further down', async () => {
    const pages = twoPages()
    await openTwoPages(pages)
    list.setAtTop(false)
    pages[''] = { items: 'z a2 b', before: 2 }
    list.refresh()
    await waitForItems('a2 b c d')
    pages[''] = { items: 'y z a2 b3', before: 2 }
    list.refresh()
    await waitForItems('a2 b3 c d')
    assert.equal(list.newCount.value, 2)
    list.setAtTop(true)
    assert.equal(shown(), 'y z a2 b3 c d')
    assert.equal(list.newCount.value, 0)
  })

  it('holds still under the pointer, also at the top, until it leaves or the new items are requested', async () => {
    const pages = twoPages()
    await openTwoPages(pages)
    list.setPointed(true)
    pages[''] = { items: 'z a2 b', before: 2 }
    list.refresh()
    await waitForItems('a2 b c d')
    // To scroll to the top changes nothing.
    list.setAtTop(false)
    list.setAtTop(true)
    assert.deepEqual([shown(), list.newCount.value], ['a2 b c d', 1])
    list.showNew()
    assert.deepEqual([shown(), list.newCount.value], ['z a2 b c d', 0])
    list.applyItem('y', 'yes')
    assert.deepEqual([shown(), list.newCount.value], ['z a2 b c d', 1])
    list.setPointed(false)
    assert.equal(shown(), 'y z a2 b c d')
  })

  it('shows the first item of an empty list under the pointer', async () => {
    open({ '': { items: '' } })
    await waitForItems('')
    list.setPointed(true)
    list.applyItem('a', 'yes')
    assert.equal(shown(), 'a')
  })

  it('does not move what the user reads when there may be a gap, and starts over at the top', async () => {
    const pages = twoPages()
    await openTwoPages(pages)
    list.setAtTop(false)
    pages[''] = { items: 'x y', before: 7 }
    const isHeld = new Promise<void>((resolve) => {
      list.newCount.subscribe((count) => {
        if (count === 2) resolve()
      })
    })
    list.refresh()
    await isHeld
    assert.equal(shown(), 'a b c d')
    list.setAtTop(true)
    await waitForItems('x y')
  })

  it('pauses a search after pages without a match', async () => {
    const pages: Pages = { '': { items: '', before: 1 }, 5: { items: 'a' } }
    for (let page = 1; page < 5; page += 1) pages[page] = { items: '', before: page + 1 }
    open(pages)
    await waitForItems('')
    assert.equal(list.pausedAt.value, 5)
    list.loadMore()
    assert.equal(list.isLoading.value, false)
    list.continueSearch()
    await waitForItems('a')
    assert.equal(list.pausedAt.value, undefined)
  })
})
