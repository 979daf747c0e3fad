/** A position in the rows of a query that are ordered by their task, so that several queries can be read side by side. */
export interface RowCursor<Row> {
  /** The row at the position; `undefined` after the last. */
  readonly row: Row | undefined
  /** Moves to the next row. Returns a promise only if it has to wait. */
  advance(): void | Promise<void>
}

/** Over rows that are read one at a time. */
export function cursorOfRows<Row>(rows: Iterator<Row>): RowCursor<Row> {
  let current = rows.next()
  return {
    get row() {
      return current.done === true ? undefined : current.value
    },
    advance: () => void (current = rows.next()),
  }
}

/** Over rows that arrive in pages. An empty page is the last. */
export async function cursorOfPages<Row>(next: () => Promise<readonly Row[]>): Promise<RowCursor<Row>> {
  let page = await next()
  let index = 0
  return {
    get row() {
      return page[index]
    },
    advance() {
      index += 1
      if (index < page.length || page.length === 0) return undefined
      return next().then((rows) => {
        page = rows
        index = 0
      })
    },
  }
}
