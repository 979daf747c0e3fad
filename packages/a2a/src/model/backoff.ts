/** When to try again: soon at first, then less often, and never all at once. Pure: the randomness is a parameter. */

/** The delay after so many failures in a row, the first being 1: doubles up to `maxMs`, and is between half and all of that. */
export function backoffMs(
  failures: number,
  firstMs: number,
  maxMs: number,
  random: () => number = Math.random,
): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2)
}

/** A planned delay, up to a quarter shorter or longer: what began together does not return together. */
export function jittered(delayMs: number, random: () => number = Math.random): number {
  return Math.round(delayMs * (0.75 + random() / 2))
}
