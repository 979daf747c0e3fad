/** A paged list for a view, updated by the change feed. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { subscribeToChanges } from './change-feed.ts'
import { createPagedList, type PagedList, type PagedListOptions } from './paged-list.ts'

/** Starts over when `key` changes, and shows the previous items until the first page is loaded. */
export function usePagedList<T>(key: string, options: () => PagedListOptions<T>): PagedList<T> {
  const last = useRef<readonly T[] | undefined>(undefined)
  const list = useMemo(() => createPagedList(options(), last.current), [key])
  last.current = list.items.value
  useEffect(() => {
    const stop = subscribeToChanges(list.applyChange)
    return () => {
      stop()
      list.close()
    }
  }, [list])
  return list
}
