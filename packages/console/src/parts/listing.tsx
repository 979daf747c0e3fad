/** What lists beside a detail have in common: how they look, what came while one reads, and what is said where nothing is. */
import type { ComponentChildren, RefObject } from 'preact'
import type { Paged } from '../api/paged.ts'
import { setQuery } from '../app/router.ts'
import { Empty } from './trouble.tsx'
import { many } from './words.ts'
import './listing.css'

type AnyPaged = Pick<Paged<unknown>, 'waiting' | 'top' | 'hasMore' | 'more'>

/** What came while one was reading further down. */
export function NewOnes({ list, frame }: { readonly list: AnyPaged; readonly frame: RefObject<HTMLElement | null> }) {
  if (list.waiting.value === 0) return null
  return (
    <button
      type="button"
      class="small listing-new"
      onClick={() => {
        frame.current?.querySelector('.virtual')?.scrollTo({ top: 0 })
        list.top(true)
      }}
    >
      {many(list.waiting.value, 'new', 'new')}
    </button>
  )
}

/** An empty list: there may be more further back, the filters may leave nothing, or there is nothing yet (`children`). */
export function NothingFound({
  list,
  what,
  filters,
  isFiltered,
  children,
}: {
  readonly list: AnyPaged
  /** One of what is listed, such as `trace`. */
  readonly what: string
  /** As they are called in the address. */
  readonly filters: readonly string[]
  readonly isFiltered: boolean
  readonly children: ComponentChildren
}) {
  if (list.hasMore.value) {
    return (
      <Empty title="Nothing among the newest">
        <button type="button" onClick={list.more}>
          Look further back
        </button>
      </Empty>
    )
  }
  if (!isFiltered) return <>{children}</>
  return (
    <Empty title={`No ${what} fits`}>
      <button type="button" onClick={() => setQuery(Object.fromEntries(filters.map((name) => [name, ''])))}>
        Clear the filters
      </button>
    </Empty>
  )
}
