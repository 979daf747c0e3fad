/** Shortcuts of a list whose rows are links: `j` and `k` move, Enter opens, Esc closes, `/` filters, `c` copies. */
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { RefObject } from 'preact'
import { useShortcuts } from '../../app/shortcuts.ts'
import { copyText } from '../content/copy-button.tsx'

export interface ListShortcutsOptions {
  readonly count: number
  /** Index of the row that is open beside the list; -1 if none is. */
  readonly at: number
  /** The element around the list and its filters. Rows have `data-row` with their index. */
  readonly frame: RefObject<HTMLElement | null>
  idOf(index: number): string
  open(index: number): void
  /** `undefined` if nothing is open; Esc is not handled then. */
  readonly close?: (() => void) | undefined
  readonly hasFilter?: boolean
}

export interface ListShortcuts {
  /** The row to scroll to. */
  readonly cursor: number | undefined
  move(by: number): void
}

export function useListShortcuts(options: ListShortcutsOptions): ListShortcuts {
  const { count, at, frame, idOf, open, close, hasFilter = true } = options
  const cursor = useSignal<number | undefined>(undefined)

  // Before paint: the next key press counts from here.
  useLayoutEffect(() => {
    if (at >= 0) cursor.value = at
  }, [at])

  useEffect(() => {
    const { current } = frame
    const follow = ({ target }: FocusEvent): void => {
      cursor.value = rowIndexOf(target) ?? cursor.value
    }
    current?.addEventListener('focusin', follow)
    return () => current?.removeEventListener('focusin', follow)
  }, [])

  /** Moves count from the cursor, not from the focused element: a row far away is focused only after it is rendered. */
  function focusRow(index: number, tries = 10): void {
    if (cursor.peek() !== index) return
    const row = frame.current?.querySelector<HTMLElement>(`[data-row="${index}"]`) ?? undefined
    if (row !== undefined) row.focus({ preventScroll: true })
    else {
      // Until then, no other row may receive the next key.
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

  useShortcuts([
    { key: 'j', label: 'Next row', run: () => move(1) },
    { key: 'k', label: 'Previous row', run: () => move(-1) },
    { key: 'Enter', label: 'Open the row', run: () => cursor.value !== undefined && open(cursor.value) },
    { key: 'c', label: 'Copy the id', run: copy },
    ...(close === undefined ? [] : [{ key: 'Escape', label: 'Close what is open', run: close }]),
    ...(hasFilter ? [{ key: '/', label: 'Filter', run: filter }] : []),
  ])
  return { cursor: cursor.value ?? (at < 0 ? undefined : at), move }
}

function rowIndexOf(target: EventTarget | null): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined
  return row === undefined ? undefined : Number(row)
}
