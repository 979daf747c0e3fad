/** A seeded source of chance: the same seed makes the same inputs in the same order. */

export interface Random {
  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Mulberry32: four bytes of state, and good enough to choose mutations. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)] as (typeof list)[number],
  }
}
