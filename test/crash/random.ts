/** Seeded random numbers: a failed run is repeated with its seed. */

/** mulberry32 */
export function createRandom(state: number): () => number {
  let s = state
  return () => {
    s = (s + 0x6d2b79f5) | 0
    let t = Math.imul(s ^ (s >>> 15), 1 | s)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
