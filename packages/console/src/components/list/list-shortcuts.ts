/** Shortcuts of a list whose rows are links: `j` and `k` move, Enter opens, Esc closes, `/` filters, `c` copies. */
import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { RefObject } from 'preact'
import { useShortcuts } from '../../app/shortcuts.ts'
import { copyText } from '../content/copy-button.tsx'

export interface ListShortcutsOptions<T> {
  readonly items: readonly T[]
  keyOf(item: T): string
  /** What an item is called. */
  readonly noun: string
  /** Index of the item that is open beside the list; -1 if none is. */
  readonly at: number
  /** The element around the list and its filters. Rows have `data-row` with the key of their item. */
  readonly frame: RefObject<HTMLElement | null>
  /** What `c` copies, if not the key. */
  idOf?(item: T): string
  open(item: T): void
  /** The id of the open item, for one that is not in the list. */
  readonly openId?: string | undefined
  /** Opens each item that the user moves to, also if none of the list is open. */
  readonly opensOnMove?: boolean
  /** `undefined` if nothing is open; Esc is not handled then. */
  readonly close?: (() => void) | undefined
  readonly hasFilter?: boolean
}

export interface ListShortcuts {
  /** Index of the row to scroll to. */
  readonly cursor: number | undefined
  move(by: number): void
}

/** The cursor is a key, so that it stays at its item when items are added above it. */
export function useListShortcuts<T>(options: ListShortcutsOptions<T>): ListShortcuts {
  const { items, keyOf, noun, at, frame, idOf = keyOf, open, openId, opensOnMove = false } = options
  const { close, hasFilter = true } = options
  const cursor = useSignal<string | undefined>(undefined)
  const openItem = items[at]
  const openKey = openItem === undefined ? undefined : keyOf(openItem)
  const cursorIndex = (): number =>
    cursor.value === undefined ? -1 : items.findIndex((item) => keyOf(item) === cursor.value)

  // Before paint: the next key press counts from here.
  useLayoutEffect(() => {
    if (openKey !== undefined) cursor.value = openKey
  }, [openKey])

  useEffect(() => {
    const { current } = frame
    const follow = ({ target }: FocusEvent): void => {
      cursor.value = rowKeyOf(target) ?? cursor.value
    }
    current?.addEventListener('focusin', follow)
    return () => current?.removeEventListener('focusin', follow)
  }, [])

  /** Moves count from the cursor, not from the focused element: a row far away is focused only after it is rendered. */
  function focusRow(key: string, tries = 10): void {
    if (cursor.peek() !== key) return
    const row = frame.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"]`) ?? undefined
    if (row !== undefined) row.focus({ preventScroll: true })
    else {
      // Until then, no other row may receive the next key.
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      if (tries > 0) requestAnimationFrame(() => focusRow(key, tries - 1))
    }
  }

  function move(by: number): void {
    const index = cursorIndex()
    const from = index >= 0 ? index : by > 0 ? -1 : items.length
    const to = items[Math.min(items.length - 1, Math.max(0, from + by))]
    if (to === undefined) return
    cursor.value = keyOf(to)
    focusRow(keyOf(to))
    if (at >= 0 || opensOnMove) open(to)
  }

  function openCursor(): void {
    const item = items[cursorIndex()]
    if (item !== undefined) open(item)
  }

  function copy(): void {
    const item = items[cursorIndex()]
    const id = at < 0 && openId !== undefined ? openId : item && idOf(item)
    if (id !== undefined) void copyText(id, 'Id copied')
  }

  function filter(): void {
    frame.current?.querySelector<HTMLInputElement>('input[type="search"]')?.focus()
  }

  useShortcuts([
    { key: 'j', label: `Next ${noun}`, run: () => move(1) },
    { key: 'k', label: `Previous ${noun}`, run: () => move(-1) },
    { key: 'Enter', label: `Open ${noun}`, run: openCursor },
    { key: 'c', label: `Copy ${noun} id`, run: copy },
    ...(close === undefined ? [] : [{ key: 'Escape', label: 'Close', run: close }]),
    ...(hasFilter ? [{ key: '/', label: 'Filter', run: filter }] : []),
  ])
  const index = cursorIndex()
  return { cursor: index >= 0 ? index : at < 0 ? undefined : at, move }
}

function rowKeyOf(target: EventTarget | null): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined
}
