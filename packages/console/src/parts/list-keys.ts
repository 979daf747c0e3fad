/** The keys of a list whose rows are links: `j` and `k` go from row to row, Enter opens, Esc closes, `/` filters, `c` copies. */
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { RefObject } from 'preact'
import { useKeys } from '../app/keys.ts'
import { copyText } from './copy.tsx'

export interface ListKeysOptions {
  readonly count: number
  /** The row that is open beside the list; -1 if none is. */
  readonly at: number
  /** Around the list and its filters. Rows have `data-row`, with their number. */
  readonly frame: RefObject<HTMLElement | null>
  idOf(index: number): string
  open(index: number): void
  /** Left out where nothing is open: Esc is somebody else's then. */
  readonly close?: (() => void) | undefined
  readonly hasFilter?: boolean
}

export interface ListKeys {
  /** The row to be scrolled to. */
  readonly cursor: number | undefined
  move(by: number): void
}

export function useListKeys(options: ListKeysOptions): ListKeys {
  const { count, at, frame, idOf, open, close, hasFilter = true } = options
  const cursor = useSignal<number | undefined>(undefined)

  // Before anything is painted: a key that is pressed next counts from here.
  useLayoutEffect(() => {
    if (at >= 0) cursor.value = at
  }, [at])

  useEffect(() => {
    const { current } = frame
    const follow = ({ target }: FocusEvent): void => {
      cursor.value = rowOf(target) ?? cursor.value
    }
    current?.addEventListener('focusin', follow)
    return () => current?.removeEventListener('focusin', follow)
  }, [])

  /** Moves count from the cursor, not from what has the focus: a row that is far away has it only after it was drawn. */
  function focusRow(index: number, tries = 10): void {
    if (cursor.peek() !== index) return
    const row = frame.current?.querySelector<HTMLElement>(`[data-row="${index}"]`) ?? undefined
    if (row !== undefined) row.focus({ preventScroll: true })
    else {
      // Until then no other row may take the next key.
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      if (tries > 0) requestAnimationFrame(() => focusRow(index, tries - 1))
    }
  }

  function move(by: number): void {
    if (count === 0) return
    const from = cursor.value ?? (by > 0 ? -1 : count)
    const to = Math.min(count - 1, Math.max(0, from + by))
    cursor.value = to
    focusRow(to)
    if (at >= 0) open(to)
  }

  function copy(): void {
    const index = cursor.value
    if (index !== undefined && index >= 0 && index < count) void copyText(idOf(index), 'Copied the id')
  }

  function filter(): void {
    frame.current?.querySelector<HTMLInputElement>('input[type="search"]')?.focus()
  }

  useKeys([
    { key: 'j', does: 'Next row', run: () => move(1) },
    { key: 'k', does: 'Previous row', run: () => move(-1) },
    { key: 'Enter', does: 'Open the row', run: () => cursor.value !== undefined && open(cursor.value) },
    { key: 'c', does: 'Copy the id', run: copy },
    ...(close === undefined ? [] : [{ key: 'Escape', does: 'Close what is open', run: close }]),
    ...(hasFilter ? [{ key: '/', does: 'Filter', run: filter }] : []),
  ])
  return { cursor: cursor.value ?? (at < 0 ? undefined : at), move }
}

function rowOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined
  return row === undefined ? undefined : Number(row)
}
