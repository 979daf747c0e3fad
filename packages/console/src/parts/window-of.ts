/** Which rows of a long list are to be drawn: those that are seen, and a few on either side. */

export interface Rows {
  readonly first: number
  /** Behind the last. */
  readonly end: number
  /** Where the first begins. */
  readonly top: number
  readonly height: number
}

const beyond = 6

/** Heights that differ from the usual one are known by their index. */
export function windowOf(
  { count, rowHeight, measured }: { count: number; rowHeight: number; measured: ReadonlyMap<number, number> },
  scrollTop: number,
  viewHeight: number,
): Rows {
  // In order, so that one walk does for the beginning, the end and the sum.
  const others = [...measured].filter(([index]) => index < count).sort(([a], [b]) => a - b)
  const offsetOf = (index: number): number => {
    let offset = index * rowHeight
    for (const [at, height] of others) {
      if (at >= index) break
      offset += height - rowHeight
    }
    return offset
  }
  const indexAt = (offset: number): number => {
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >> 1
      if (offsetOf(middle + 1) <= offset) low = middle + 1
      else high = middle
    }
    return low
  }
  const first = Math.max(0, indexAt(scrollTop) - beyond)
  const end = Math.min(count, indexAt(scrollTop + viewHeight) + 1 + beyond)
  return { first, end, top: offsetOf(first), height: offsetOf(count) }
}

/** Where one has to scroll so that a row is seen; nothing if it is. */
export function scrollTo(
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
