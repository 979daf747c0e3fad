/**
 * A list of any length that renders only its visible rows. Rows may be higher than `rowHeight`: each is measured when rendered.
 * What the user reads does not move when rows are added above it (`anchor`).
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { scrollOffsetFor, visibleRows } from './visible-rows.ts'
import './virtual-list.css'

export interface VirtualListProps {
  readonly count: number
  /** Height of a default row, in pixels. */
  readonly rowHeight: number
  readonly label: string
  /** Stable key of the item, whatever its index. */
  keyOf(index: number): string
  row(index: number): ComponentChildren
  /** Scrolled into view when it changes. */
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
}

export function VirtualList(props: VirtualListProps) {
  const { count, rowHeight, label, keyOf, row, selected, onEnd, onTop, onBottom, follow = false } = props
  const ownScroller = useRef<HTMLDivElement>(null)
  const frame = props.scroller ?? ownScroller
  const scrollTop = useSignal(0)
  const viewHeight = useSignal(600)
  const measuredAt = useSignal(0)
  const heights = useRef(new Map<string, number>())
  const wasAtEnd = useRef(true)

  const measured = new Map<number, number>()
  if (heights.current.size > 0) {
    for (let index = 0; index < count; index += 1) {
      const height = heights.current.get(keyOf(index))
      if (height !== undefined && height !== rowHeight) measured.set(index, height)
    }
  }
  void measuredAt.value
  const rows = { count, rowHeight, measured }
  const { first, end, top, height } = visibleRows(rows, scrollTop.value, viewHeight.value)

  useLayoutEffect(() => {
    const element = frame.current
    if (element === null) return
    const watch = new ResizeObserver(() => (viewHeight.value = element.clientHeight))
    watch.observe(element)
    viewHeight.value = element.clientHeight
    return () => watch.disconnect()
  }, [])

  useEffect(() => {
    const element = frame.current
    if (element === null || selected === undefined || selected < 0) return
    const to = scrollOffsetFor(rows, selected, element.scrollTop, element.clientHeight)
    if (to !== undefined) element.scrollTop = to
  }, [selected === undefined ? undefined : selected < count ? keyOf(selected) : undefined])

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
    <div ref={frame} class={`virtual ${props.class ?? ''}`} onScroll={scrolled} tabIndex={-1}>
      <ul aria-label={label} style={{ height: `${height}px` }}>
        {Array.from({ length: end - first }, (_, offset) => {
          const index = first + offset
          const key = keyOf(index)
          return (
            <VirtualRow key={key} id={key} index={index} count={count} top={offset === 0 ? top : 0} onHeight={measure}>
              {row(index)}
            </VirtualRow>
          )
        })}
      </ul>
    </div>
  )
}

interface VirtualRowProps {
  readonly id: string
  readonly index: number
  readonly count: number
  /** Height of the rows above that are not rendered. */
  readonly top: number
  readonly onHeight: (id: string, height: number) => void
  readonly children: ComponentChildren
}

function VirtualRow({ id, index, count, top, onHeight, children }: VirtualRowProps) {
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
    <li ref={element} aria-setsize={count} aria-posinset={index + 1} style={{ marginTop: `${top}px` }}>
      {children}
    </li>
  )
}
