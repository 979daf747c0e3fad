/** Merges a reloaded first page with the pages that are already loaded. Pure. */

export interface LoadedPages<T> {
  readonly items: readonly T[]
  /** Cursor of the next page; `undefined` if there are no more. */
  readonly before: string | number | undefined
}

/** Keeps what follows the last reloaded item. If that item is not among the known ones, the list starts over from the new page. */
export function mergeFirstPage<T>(
  fresh: LoadedPages<T>,
  known: LoadedPages<T>,
  keyOf: (item: T) => string,
): LoadedPages<T> {
  const last = fresh.items.at(-1)
  if (fresh.before === undefined || last === undefined) return fresh
  const at = known.items.findIndex((item) => keyOf(item) === keyOf(last))
  const rest = at < 0 ? [] : known.items.slice(at + 1)
  return rest.length === 0 ? fresh : { items: [...fresh.items, ...rest], before: known.before }
}

export function appendPage<T>(known: LoadedPages<T>, page: LoadedPages<T>, keyOf: (item: T) => string): LoadedPages<T> {
  const knownKeys = new Set(known.items.map(keyOf))
  return { items: [...known.items, ...page.items.filter((item) => !knownKeys.has(keyOf(item)))], before: page.before }
}

/** Counts the items above the one that was first when the user started to read further down. */
export function countAbove<T>(items: readonly T[], first: string | undefined, keyOf: (item: T) => string): number {
  return first === undefined
    ? 0
    : Math.max(
        0,
        items.findIndex((item) => keyOf(item) === first),
      )
}
