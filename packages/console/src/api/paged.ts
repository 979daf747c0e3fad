/**
 * A long list, the newest first, loaded page by page as one reads on. When the stream of changes says so its beginning is
 * looked at again. What is read does not move: what comes above it waits until one is back at the top, and is counted.
 */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { onChange } from './feed.ts'
import type { Change } from './feed.ts'
import { joinPages, newAbove, withPage } from './join-pages.ts'
import type { Pages } from './join-pages.ts'
import { problemOf } from './problem.ts'
import type { Problem } from './problem.ts'
import { createResource } from './resource.ts'

type Place = string | number | undefined

export interface PagedOptions<T> {
  keyOf(item: T): string
  load(before: Place, signal: AbortSignal): Promise<Pages<T>>
  /** `shown` is what is there now. */
  concerns?(change: Change, shown: readonly T[]): boolean
}

export interface Paged<T> {
  /** Nothing until the first page is there. */
  readonly items: ReadonlySignal<readonly T[] | undefined>
  readonly problem: ReadonlySignal<Problem | undefined>
  readonly hasMore: ReadonlySignal<boolean>
  /** How many are new above what is shown. */
  readonly waiting: ReadonlySignal<number>
  more(): void
  reload(): void
  /** Whether one is at the top, where new ones may come in. */
  top(isAtTop: boolean): void
}

/** Searching may find nothing on a page and go on; so often without being asked. */
const mostEmpty = 5

/** `until` is shown until the first page is there. */
export function createPaged<T>({ keyOf, load }: PagedOptions<T>, until?: readonly T[]): Paged<T> & { close(): void } {
  const items = signal<readonly T[] | undefined>(until)
  const hasMore = signal(false)
  const waiting = signal(0)
  const further = signal<Problem | undefined>(undefined)
  const closing = new AbortController()
  let known: Pages<T> | undefined
  /** The first that is shown while one reads further down. */
  let held: string | undefined
  let isAdding = false

  const beginning = createResource(async (stopped) => {
    const fresh = await nextPage(undefined, stopped)
    show(known === undefined ? fresh : joinPages(fresh, known, keyOf))
  })
  const problem = signal<Problem | undefined>(undefined)
  const unwatch = [
    beginning.problem.subscribe((found) => (problem.value = found ?? further.peek())),
    further.subscribe((found) => (problem.value = found ?? beginning.problem.peek())),
  ]

  async function nextPage(from: Place, stopped: AbortSignal): Promise<Pages<T>> {
    let page = await load(from, stopped)
    for (let empty = 1; page.items.length === 0 && page.before !== undefined && empty < mostEmpty; empty += 1) {
      page = await load(page.before, stopped)
    }
    return page
  }

  function show(pages: Pages<T>): void {
    known = pages
    waiting.value = newAbove(pages.items, held, keyOf)
    items.value = pages.items.slice(waiting.value)
    hasMore.value = pages.before !== undefined
  }

  async function add(): Promise<void> {
    if (isAdding || known?.before === undefined) return
    isAdding = true
    try {
      const page = await nextPage(known.before, closing.signal)
      show(withPage(known, page, keyOf))
      further.value = undefined
    } catch (reason) {
      if (!closing.signal.aborted) further.value = problemOf(reason)
    }
    isAdding = false
  }

  return {
    items,
    problem,
    hasMore,
    waiting,
    more: () => void add(),
    reload: beginning.reload,
    top(isAtTop) {
      const [first] = items.peek() ?? []
      if (!isAtTop && first !== undefined) held ??= keyOf(first)
      if (!isAtTop) return
      held = undefined
      if (known !== undefined && waiting.peek() > 0) show(known)
    },
    close() {
      closing.abort()
      beginning.close()
      for (const stop of unwatch) stop()
    },
  }
}

/** Loaded anew when `key` is another one; what was there stays to be seen meanwhile. */
export function usePaged<T>(key: string, options: PagedOptions<T>): Paged<T> {
  const last = useRef<readonly T[] | undefined>(undefined)
  const paged = useMemo(() => createPaged(options, last.current), [key])
  last.current = paged.items.value
  useEffect(() => {
    const stop = onChange((change) => {
      const shown = paged.items.peek() ?? []
      if (change.type === 'reset' || options.concerns?.(change, shown) === true) paged.reload()
    })
    return () => {
      stop()
      paged.close()
    }
  }, [paged])
  return paged
}
