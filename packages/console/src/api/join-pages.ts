/** A list of which the beginning was looked at again: what is new, and what was further down, as one. Pure. */

export interface Pages<T> {
  readonly items: readonly T[]
  /** To be asked for next, if there are more. */
  readonly before: string | number | undefined
}

/** What follows the last one that was looked at again stays as it was; where that is not to be found, it is loaded anew. */
export function joinPages<T>(fresh: Pages<T>, known: Pages<T>, keyOf: (item: T) => string): Pages<T> {
  const last = fresh.items.at(-1)
  if (fresh.before === undefined || last === undefined) return fresh
  const at = known.items.findIndex((item) => keyOf(item) === keyOf(last))
  const rest = at < 0 ? [] : known.items.slice(at + 1)
  return rest.length === 0 ? fresh : { items: [...fresh.items, ...rest], before: known.before }
}

export function withPage<T>(known: Pages<T>, page: Pages<T>, keyOf: (item: T) => string): Pages<T> {
  const there = new Set(known.items.map(keyOf))
  return { items: [...known.items, ...page.items.filter((item) => !there.has(keyOf(item)))], before: page.before }
}

/** How many stand above the one that was first when somebody began to read further down. */
export function newAbove<T>(items: readonly T[], first: string | undefined, keyOf: (item: T) => string): number {
  return first === undefined
    ? 0
    : Math.max(
        0,
        items.findIndex((item) => keyOf(item) === first),
      )
}
