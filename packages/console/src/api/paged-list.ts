/**
 * A long list, newest first, loaded page by page as the user scrolls. The first page is reloaded when the change feed reports a
 * change. The rows on screen do not move: newer items are counted and held back until the user scrolls back to the top.
 */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { subscribeToChanges } from './change-feed.ts'
import type { Change } from './change-feed.ts'
import { mergeFirstPage, countAbove, appendPage } from './merge-pages.ts'
import type { LoadedPages } from './merge-pages.ts'
import { toProblem } from './problem.ts'
import type { Problem } from './problem.ts'
import { createResource } from './resource.ts'

type PageCursor = string | number | undefined

export interface PagedListOptions<T> {
  keyOf(item: T): string
  load(before: PageCursor, signal: AbortSignal): Promise<LoadedPages<T>>
  /** `shown` is what the list shows now. */
  isAffectedBy?(change: Change, shown: readonly T[]): boolean
}

export interface PagedList<T> {
  /** `undefined` until the first page is loaded. */
  readonly items: ReadonlySignal<readonly T[] | undefined>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly hasMore: ReadonlySignal<boolean>
  /** The number of new items above what is shown. */
  readonly newCount: ReadonlySignal<number>
  loadMore(): void
  reload(): void
  /** Whether the user is at the top, where new items are inserted at once. */
  setAtTop(isAtTop: boolean): void
}

/** A search may find nothing on a page; this many empty pages are skipped automatically. */
const maxEmptyPages = 5

/** `initialItems` are shown until the first page is loaded. */
export function createPagedList<T>(
  { keyOf, load }: PagedListOptions<T>,
  initialItems?: readonly T[],
): PagedList<T> & { close(): void } {
  const items = signal<readonly T[] | undefined>(initialItems)
  const hasMore = signal(false)
  const newCount = signal(0)
  const nextPageProblem = signal<Problem | undefined>(undefined)
  const closing = new AbortController()
  let known: LoadedPages<T> | undefined
  /** Key of the first item on screen while the user reads further down. */
  let topKey: string | undefined
  let isAdding = false

  const firstPage = createResource(async (stopped) => {
    const fresh = await nextPage(undefined, stopped)
    show(known === undefined ? fresh : mergeFirstPage(fresh, known, keyOf))
  })
  const problem = signal<Problem | undefined>(undefined)
  const unsubscribers = [
    firstPage.problem.subscribe((found) => (problem.value = found ?? nextPageProblem.peek())),
    nextPageProblem.subscribe((found) => (problem.value = found ?? firstPage.problem.peek())),
  ]

  async function nextPage(from: PageCursor, stopped: AbortSignal): Promise<LoadedPages<T>> {
    let page = await load(from, stopped)
    for (let empty = 1; page.items.length === 0 && page.before !== undefined && empty < maxEmptyPages; empty += 1) {
      page = await load(page.before, stopped)
    }
    return page
  }

  function show(pages: LoadedPages<T>): void {
    known = pages
    newCount.value = countAbove(pages.items, topKey, keyOf)
    items.value = pages.items.slice(newCount.value)
    hasMore.value = pages.before !== undefined
  }

  async function addPage(): Promise<void> {
    if (isAdding || known?.before === undefined) return
    isAdding = true
    try {
      const page = await nextPage(known.before, closing.signal)
      show(appendPage(known, page, keyOf))
      nextPageProblem.value = undefined
    } catch (reason) {
      if (!closing.signal.aborted) nextPageProblem.value = toProblem(reason)
    }
    isAdding = false
  }

  return {
    items,
    problem,
    hasMore,
    newCount,
    loadMore: () => void addPage(),
    reload: firstPage.reload,
    setAtTop(isAtTop) {
      const [first] = items.peek() ?? []
      if (!isAtTop && first !== undefined) topKey ??= keyOf(first)
      if (!isAtTop) return
      topKey = undefined
      if (known !== undefined && newCount.peek() > 0) show(known)
    },
    close() {
      closing.abort()
      firstPage.close()
      for (const stop of unsubscribers) stop()
    },
  }
}

/** Reloads when `key` changes, and shows the previous items until then. */
export function usePagedList<T>(key: string, options: PagedListOptions<T>): PagedList<T> {
  const last = useRef<readonly T[] | undefined>(undefined)
  const paged = useMemo(() => createPagedList(options, last.current), [key])
  last.current = paged.items.value
  useEffect(() => {
    const stop = subscribeToChanges((change) => {
      const shown = paged.items.peek() ?? []
      if (change.type === 'reset' || options.isAffectedBy?.(change, shown) === true) paged.reload()
    })
    return () => {
      stop()
      paged.close()
    }
  }, [paged])
  return paged
}
