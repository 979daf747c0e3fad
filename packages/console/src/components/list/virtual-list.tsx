/**
 * A list of any length that renders only its visible rows. Rows may be higher than `rowHeight`: each is measured when rendered.
 * What the user reads does not move when rows are added above it (`anchor`).
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, HTMLAttributes, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useSize } from '../layout/use-size.ts'
import { scrollOffsetFor, visibleRows } from './visible-rows.ts'
import './virtual-list.css'

export interface VirtualListProps<T> {
  readonly items: readonly T[]
  /** Height of a default row, in pixels. */
  readonly rowHeight: number
  readonly label: string
  /** Stable key of the item, whatever its index. */
  keyOf(item: T): string
  row(item: T, index: number): ComponentChildren
  /** Index of the row that is scrolled into view when it changes. */
  readonly selected?: number | undefined
  /** The end comes into view: load more. */
  readonly onEnd?: (() => void) | undefined
  /** Called when the user scrolls away from the top, and back. */
  readonly onTop?: ((isAtTop: boolean) => void) | undefined
  /** The same for the end. */
  readonly onBottom?: ((isAtEnd: boolean) => void) | undefined
  /** Stays at the end while the user is there, as a log does. */
  readonly follow?: boolean
  /** The scrolling element, for callers that scroll to its top or end. */
  readonly scroller?: RefObject<HTMLDivElement | null> | undefined
  readonly class?: string
  /** The rows of a table: an element around it has the role `table` and the header. */
  readonly isTable?: boolean
}

export function VirtualList<T>(props: VirtualListProps<T>) {
  const {
    items,
    rowHeight,
    label,
    keyOf,
    row,
    selected,
    onEnd,
    onTop,
    onBottom,
    follow = false,
    isTable = false,
  } = props
  const count = items.length
  const ownScroller = useRef<HTMLDivElement>(null)
  const frame = props.scroller ?? ownScroller
  const scrollTop = useSignal(0)
  const view = useSize(frame, { width: 0, height: 600 })
  const measuredAt = useSignal(0)
  const heights = useRef(new Map<string, number>())
  const wasAtEnd = useRef(true)

  const measured = new Map<number, number>()
  if (heights.current.size > 0) {
    for (const [index, item] of items.entries()) {
      const height = heights.current.get(keyOf(item))
      if (height !== undefined && height !== rowHeight) measured.set(index, height)
    }
  }
  void measuredAt.value
  const rows = { count, rowHeight, measured }
  const { first, end, top, height } = visibleRows(rows, scrollTop.value, view.value.height)

  const selectedItem = selected === undefined ? undefined : items[selected]
  useEffect(() => {
    const element = frame.current
    if (element === null || selected === undefined || selectedItem === undefined) return
    const to = scrollOffsetFor(rows, selected, element.scrollTop, element.clientHeight)
    if (to !== undefined) element.scrollTop = to
  }, [selectedItem === undefined ? undefined : keyOf(selectedItem)])

  useLayoutEffect(() => {
    const element = frame.current
    if (element !== null && follow && wasAtEnd.current) element.scrollTop = element.scrollHeight
  }, [count, height, follow])

  useEffect(() => {
    if (count > 0 && end >= count) onEnd?.()
  }, [end >= count, count])

  function scrolled(): void {
    const element = frame.current
    if (element === null) return
    scrollTop.value = element.scrollTop
    wasAtEnd.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 24
    onTop?.(element.scrollTop < 8)
    onBottom?.(wasAtEnd.current)
  }

  function measure(key: string, found: number): void {
    if (found === 0 || (heights.current.get(key) ?? rowHeight) === found) return
    heights.current.set(key, found)
    measuredAt.value += 1
  }

  return (
    <div
      ref={frame}
      class={`virtual ${props.class ?? ''}`}
      role={isTable ? 'rowgroup' : undefined}
      onScroll={scrolled}
      tabIndex={-1}
    >
      <ul {...(isTable ? { role: 'presentation' } : { 'aria-label': label })} style={{ height: `${height}px` }}>
        {items.slice(first, end).map((item, offset) => {
          const index = first + offset
          const key = keyOf(item)
          return (
            <VirtualRow
              key={key}
              id={key}
              position={
                isTable
                  ? { role: 'row', 'aria-rowindex': index + 2 }
                  : { 'aria-setsize': count, 'aria-posinset': index + 1 }
              }
              top={offset === 0 ? top : 0}
              onHeight={measure}
            >
              {row(item, index)}
            </VirtualRow>
          )
        })}
      </ul>
    </div>
  )
}

interface VirtualRowProps {
  readonly id: string
  /** Its role and its place among all rows; a table counts its header. */
  readonly position: HTMLAttributes<HTMLLIElement>
  /** Height of the rows above that are not rendered. */
  readonly top: number
  readonly onHeight: (id: string, height: number) => void
  readonly children: ComponentChildren
}

function VirtualRow({ id, position, top, onHeight, children }: VirtualRowProps) {
  const element = useRef<HTMLLIElement>(null)
  const latestOnHeight = useRef(onHeight)
  latestOnHeight.current = onHeight
  useLayoutEffect(() => {
    const item = element.current
    if (item === null) return
    const watch = new ResizeObserver(() => latestOnHeight.current(id, item.offsetHeight))
    watch.observe(item)
    return () => watch.disconnect()
  }, [id])
  return (
    <li ref={element} {...position} style={{ marginTop: `${top}px` }}>
      {children}
    </li>
  )
}
