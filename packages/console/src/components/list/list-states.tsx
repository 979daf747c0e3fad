/** Shared parts of lists beside a detail: new-items button and empty state. */
import type { ComponentChildren, RefObject } from 'preact'
import type { PagedList } from '../../api/paged-list.ts'
import { clearQuery } from '../../app/router.ts'
import { EmptyState } from '../status/error-notice.tsx'
import { listStrings } from './strings.ts'
import './list-states.css'

type ListControls = Pick<PagedList<unknown>, 'newCount' | 'setAtTop' | 'hasMore' | 'continueSearch'>

interface NewItemsButtonProps {
  readonly list: ListControls
  readonly frame: RefObject<HTMLElement | null>
  readonly class?: string
  readonly children?: ComponentChildren
}

/** Items that arrived while the user reads further down. */
export function NewItemsButton({ list, frame, class: look, children }: NewItemsButtonProps) {
  if (list.newCount.value === 0) return null
  return (
    <button
      type="button"
      class={look ?? 'small listing-new'}
      onClick={() => {
        frame.current?.querySelector('.virtual')?.scrollTo({ top: 0 })
        list.setAtTop(true)
      }}
    >
      {children ?? listStrings.new(list.newCount.value)}
    </button>
  )
}

/** An empty list: older pages may have matches, the filters may exclude everything, or there is nothing yet (`children`). */
export function EmptyList({
  list,
  what,
  filters,
  isFiltered,
  children,
}: {
  readonly list: ListControls
  /** Singular name of an item, such as `trace`. */
  readonly what: string
  /** Names of the filters in the address. */
  readonly filters: readonly string[]
  readonly isFiltered: boolean
  readonly children: ComponentChildren
}) {
  if (list.hasMore.value) {
    return (
      <EmptyState title={listStrings.nothingRecent}>
        <button type="button" onClick={list.continueSearch}>
          {listStrings.searchFurther}
        </button>
      </EmptyState>
    )
  }
  if (!isFiltered) return <>{children}</>
  return (
    <EmptyState title={listStrings.noMatch(what)}>
      <button type="button" onClick={() => clearQuery(filters)}>
        {listStrings.clearFilters}
      </button>
    </EmptyState>
  )
}
