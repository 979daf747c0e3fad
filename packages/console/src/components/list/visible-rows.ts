/** Computes which rows of a long list to render: the visible ones and a few on either side. */
import { countLeading } from './count-leading.ts'

export interface RowWindow {
  readonly first: number
  /** Index after the last row. */
  readonly end: number
  /** Offset of the first row. */
  readonly top: number
  readonly height: number
}

const overscanRows = 6

/** `measured` holds the heights that differ from `rowHeight`, by index. */
export function visibleRows(
  { count, rowHeight, measured }: { count: number; rowHeight: number; measured: ReadonlyMap<number, number> },
  scrollTop: number,
  viewHeight: number,
): RowWindow {
  // Sorted, so that one pass finds the start, the end and the sum.
  const others = [...measured].filter(([index]) => index < count).sort(([a], [b]) => a - b)
  const offsetOf = (index: number): number => {
    let offset = index * rowHeight
    for (const [at, height] of others) {
      if (at >= index) break
      offset += height - rowHeight
    }
    return offset
  }
  const indexAt = (offset: number): number => countLeading(count, (index) => offsetOf(index + 1) <= offset)
  const first = Math.max(0, indexAt(scrollTop) - overscanRows)
  const end = Math.min(count, indexAt(scrollTop + viewHeight) + 1 + overscanRows)
  return { first, end, top: offsetOf(first), height: offsetOf(count) }
}

/** The scroll offset that makes a row visible; `undefined` if it already is. */
export function scrollOffsetFor(
  rows: { count: number; rowHeight: number; measured: ReadonlyMap<number, number> },
  index: number,
  scrollTop: number,
  viewHeight: number,
): number | undefined {
  let top = index * rows.rowHeight
  for (const [at, height] of rows.measured) if (at < index) top += height - rows.rowHeight
  const height = rows.measured.get(index) ?? rows.rowHeight
  if (top < scrollTop) return top
  if (top + height > scrollTop + viewHeight) return Math.min(top, top + height - viewHeight)
  return undefined
}
