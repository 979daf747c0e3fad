/**
 * A long list, newest first, loaded page by page as the user scrolls and kept current by the change feed. While the user reads
 * further down or has the pointer over the list, rows are updated in place and new items are held back; at the top, all rows are in
 * order.
 */
import { computed, signal, type ReadonlySignal } from '@preact/signals'
import type { Change } from './change-feed.ts'
import { isProblem, toProblem, type Problem } from './problem.ts'

type PageCursor = string | number | undefined

interface ListPage<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; `undefined` if there are no more. */
  readonly before: PageCursor
}

export interface PagedListOptions<T> {
  keyOf(item: T): string
  load(before: PageCursor, signal: AbortSignal): Promise<ListPage<T>>
  /** Called for each change of the change feed, except `reset`, which reloads every list. */
  onChange(change: Change, list: PagedList<T>): void
  /** A search pauses after this many pages without a match. */
  readonly maxEmptyPages?: number
  /** Changes within this time cause one request. */
  readonly settleMs?: number
  /** Adds or updates items. Default: `update` replaces what is above its last known item. */
  merge?(known: readonly T[], update: Iterable<T>): readonly T[]
  /** Which version of an item to show. Default: `update`. */
  newer?(known: T | undefined, update: T): T
  /** Whether an item that changed while the user was reading still belongs to the list. */
  matches?(item: T): boolean
}

export interface PagedList<T> {
  /** `undefined` until the first page is loaded. */
  readonly items: ReadonlySignal<readonly T[] | undefined>
  /** The number of new items that are held back until the user is at the top again. */
  readonly newCount: ReadonlySignal<number>
  readonly isLoading: ReadonlySignal<boolean>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly hasMore: ReadonlySignal<boolean>
  /** Set while the search is paused: the position that it has reached. The user decides whether to continue. */
  readonly pausedAt: ReadonlySignal<PageCursor>
  /** Loads the next page, unless the search is paused or the last request failed. */
  loadMore(): void
  continueSearch(): void
  refresh(): void
  /** Loads the first page again shortly; with `isStale`, it replaces all pages as soon as the user is at the top. */
  scheduleRefresh(isStale?: boolean): void
  /** Applies an item of the change feed. `ask`: only the hub knows whether the item belongs to the list. */
  applyItem(item: T, match: 'yes' | 'no' | 'ask'): void
  applyChange(change: Change): void
  setAtTop(isAtTop: boolean): void
  /** While the pointer is over the list, nothing moves under it. */
  setPointed(isPointed: boolean): void
  /** Shows the new items now. */
  showNew(): void
  close(): void
}

const retryMs = 1_500

/** `initialItems` are shown until the first page is loaded. */
export function createPagedList<T>(options: PagedListOptions<T>, initialItems?: readonly T[]): PagedList<T> {
  const { keyOf, load, maxEmptyPages = 5, settleMs = 150 } = options
  const newer = options.newer ?? ((_, update) => update)
  const items = signal<readonly T[] | undefined>(initialItems)
  const held = signal<ReadonlyMap<string, T>>(new Map())
  const isLoading = signal(true)
  const problem = signal<Problem | undefined>(undefined)
  const before = signal<PageCursor>(undefined)
  const pausedAt = signal<PageCursor>(undefined)
  const closing = new AbortController()
  let isLoaded = false
  /** Whether new items are shown at once: at the top, without the pointer over the list. */
  let isAtTop = true
  let isScrolledToTop = true
  let isPointed = false
  /** Not all changes were reported: at the top, everything is reloaded. */
  let isStale = false
  /** One request at a time, because each depends on the result of the previous one. */
  let queue = Promise.resolve()
  let refreshTimer: ReturnType<typeof setTimeout> | undefined
  let retryTimer: ReturnType<typeof setTimeout> | undefined

  const shown = (): readonly T[] => items.peek() ?? []
  const byKey = (some: Iterable<T>): Map<string, T> => new Map(Array.from(some, (item) => [keyOf(item), item]))
  const merge = (known: readonly T[], update: Iterable<T>): readonly T[] =>
    options.merge?.(known, update) ?? mergeNewest(known, byKey(update), keyOf)

  function run(work: () => Promise<void>): void {
    queue = queue.then(async () => {
      if (closing.signal.aborted) return
      try {
        await work()
        problem.value = undefined
      } catch (reason) {
        if (closing.signal.aborted) return
        problem.value = toProblem(reason)
        if (!isProblem(reason, 'UNREACHABLE', 'UNAVAILABLE')) return
        clearTimeout(retryTimer)
        retryTimer = setTimeout(() => run(work), retryMs)
      }
    })
  }

  /** Loads pages until one has items. */
  async function search(from: PageCursor): Promise<ListPage<T>> {
    isLoading.value = true
    pausedAt.value = undefined
    try {
      for (let empty = 1, at = from; ; empty += 1) {
        const page = await load(at, closing.signal)
        if (page.items.length > 0 || page.before === undefined) return page
        at = page.before
        if (empty < maxEmptyPages) continue
        pausedAt.value = at
        return page
      }
    } finally {
      isLoading.value = false
    }
  }

  function replace(page: ListPage<T>): void {
    const known = byKey(isLoaded ? shown() : [])
    isLoaded = true
    isStale = false
    held.value = new Map()
    before.value = page.before
    items.value = page.items.map((item) => newer(known.get(keyOf(item)), item))
  }

  async function refresh(): Promise<void> {
    if (!isLoaded) return replace(await search(undefined))
    const page = await load(undefined, closing.signal)
    // A search that has nothing on its first page keeps what it found further back.
    if (page.items.length === 0 && page.before !== undefined) return
    const known = new Set([...byKey(shown()).keys(), ...held.peek().keys()])
    const mayHaveGap = !page.items.some((item) => known.has(keyOf(item)))
    const isEmpty = page.items.length === 0
    if (isHolding() && !isEmpty) {
      isStale ||= mayHaveGap
      hold(page.items)
      updateInPlace(page.items)
    } else if (isStale || mayHaveGap || (page.before === undefined && options.merge === undefined)) {
      pausedAt.value = undefined
      replace(page)
    } else items.value = merge(shown(), page.items)
  }

  async function next(): Promise<void> {
    const from = before.peek()
    if (from === undefined) return void (isLoading.value = false)
    const page = await search(from)
    before.value = page.before
    const known = byKey(shown())
    const older = page.items.filter((item) => !known.has(keyOf(item)))
    items.value = options.merge?.(shown(), page.items) ?? [...shown(), ...older]
  }

  function hold(update: readonly T[]): void {
    const known = byKey(shown())
    const fresh = byKey(update.filter((item) => !known.has(keyOf(item))))
    for (const [key, item] of fresh) fresh.set(key, newer(held.peek().get(key), item))
    held.value = new Map([...fresh, ...[...held.peek()].filter(([key]) => !fresh.has(key))])
  }

  /** The first item of an empty list moves nothing. */
  function isHolding(): boolean {
    return !isAtTop && shown().length > 0
  }

  function setHolding(isHeld: boolean): void {
    if (isAtTop === !isHeld) return
    isAtTop = !isHeld
    if (isHeld || !isLoaded) return
    const { matches } = options
    items.value = merge(matches === undefined ? shown() : shown().filter(matches), held.peek().values())
    held.value = new Map()
    if (isStale) scheduleRefresh()
  }

  function updateInPlace(update: Iterable<T>): void {
    const updates = byKey(update)
    items.value = shown().map((item) => {
      const found = updates.get(keyOf(item))
      return found === undefined ? item : newer(item, found)
    })
  }

  /** The first of many changes sets the timer, so that a busy hub cannot postpone it forever. */
  function scheduleRefresh(stale = false): void {
    isStale ||= stale
    if (closing.signal.aborted) return
    refreshTimer ??= setTimeout(() => {
      refreshTimer = undefined
      run(refresh)
    }, settleMs)
  }

  run(refresh)
  const list: PagedList<T> = {
    items,
    newCount: computed(() => held.value.size),
    isLoading,
    problem,
    hasMore: computed(() => before.value !== undefined),
    pausedAt,
    loadMore() {
      if (pausedAt.peek() === undefined && problem.peek() === undefined) list.continueSearch()
    },
    continueSearch() {
      if (isLoading.peek() || before.peek() === undefined) return
      isLoading.value = true
      run(next)
    },
    refresh: () => run(refresh),
    scheduleRefresh,
    applyItem(item, match) {
      const key = keyOf(item)
      const isKnown = byKey(shown()).has(key)
      if (!isLoaded) scheduleRefresh()
      else if (isKnown && isHolding()) updateInPlace([item])
      else if (match === 'no') {
        items.value = shown().filter((one) => keyOf(one) !== key)
        held.value = new Map([...held.peek()].filter(([one]) => one !== key))
      } else if (match === 'ask' && !isKnown) scheduleRefresh()
      else if (isHolding()) hold([item])
      else items.value = merge(shown(), [item])
    },
    applyChange(change) {
      if (change.type === 'reset') scheduleRefresh(true)
      else options.onChange(change, list)
    },
    setAtTop(atTop) {
      isScrolledToTop = atTop
      setHolding(!atTop || isPointed)
    },
    setPointed(pointed) {
      isPointed = pointed
      setHolding(pointed || !isScrolledToTop)
    },
    showNew() {
      setHolding(false)
      setHolding(isPointed)
    },
    close() {
      closing.abort()
      clearTimeout(refreshTimer)
      clearTimeout(retryTimer)
    },
  }
  return list
}

/** `update` and what follows the last of its items that is known. */
function mergeNewest<T>(known: readonly T[], update: ReadonlyMap<string, T>, keyOf: (item: T) => string): readonly T[] {
  const last = known.findLastIndex((item) => update.has(keyOf(item)))
  return [...update.values(), ...known.slice(last + 1)]
}
