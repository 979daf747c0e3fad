/** Shared parts of lists beside a detail: new-items button and empty state. */
import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { PagedList } from '../../api/paged-list.ts'
import { clearQuery } from '../../app/router.ts'
import { EmptyState } from '../status/error-notice.tsx'
import './list-states.css'
import { formatCount } from '../format.ts'

type ListControls = Pick<
  PagedList<unknown>,
  'newCount' | 'setAtTop' | 'setPointed' | 'showNew' | 'hasMore' | 'continueSearch'
>

interface NewItemsButtonProps {
  readonly list: ListControls
  readonly frame: RefObject<HTMLElement | null>
  readonly children?: ComponentChildren
}

/** Items that arrived while the user reads further down, or while the pointer is over the list. */
export function NewItemsButton({ list, frame, children }: NewItemsButtonProps) {
  useLayoutEffect(() => {
    const { current } = frame
    const isOver = (target: EventTarget | null): boolean =>
      target instanceof Element && target.closest('.virtual, .new-items') !== null
    // The fields and buttons of a list are no part of what holds still.
    const over = ({ target, pointerType }: PointerEvent): void =>
      list.setPointed(pointerType === 'mouse' && isOver(target))
    const leave = (): void => list.setPointed(false)
    current?.addEventListener('pointerover', over)
    current?.addEventListener('pointerleave', leave)
    // The list may have appeared under the pointer.
    if (current?.querySelector('.virtual:hover') !== null) list.setPointed(matchMedia('(hover: hover)').matches)
    return () => {
      current?.removeEventListener('pointerover', over)
      current?.removeEventListener('pointerleave', leave)
    }
  }, [list])
  if (list.newCount.value === 0) return null
  return (
    <div class="new-items">
      <button
        type="button"
        class="primary"
        onClick={() => {
          frame.current?.querySelector('.virtual')?.scrollTo({ top: 0 })
          list.setAtTop(true)
          list.showNew()
        }}
      >
        {children ?? `${formatCount(list.newCount.value)} new`}
      </button>
    </div>
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
      <EmptyState title="No matches among the newest">
        <button type="button" onClick={list.continueSearch}>
          Search further back
        </button>
      </EmptyState>
    )
  }
  if (!isFiltered) return <>{children}</>
  return (
    <EmptyState title={`No matching ${what}s`}>
      <button type="button" onClick={() => clearQuery(filters)}>
        Clear filters
      </button>
    </EmptyState>
  )
}
