/** Seeded random choices: the same seed makes the same inputs in the same order. */
import { createRandom } from '../../crash/random.ts'

export interface RandomChoices {
  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

export function createRandomChoices(seed: number): RandomChoices {
  const next = createRandom(seed)
  return {
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)] as (typeof list)[number],
  }
}
