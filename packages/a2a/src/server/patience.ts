/**
 * How long a reader that takes nothing is waited for. Told by looking several times, never by one timer or the clock: after a
 * process stood still (a busy loop, a debugger, a machine that slept) timers run before what came meanwhile is read, and
 * every reader would be cut off for a pause that was the server's own. Such a pause costs one look of these.
 */
import { maxTimerMs } from '../engine/later.ts'

export const looksPerStall = 4

/** Whatever the setting, looking must not be most of the work. */
const minLookMs = 20

export function lookEveryMs(stallMs: number): number {
  return Math.min(Math.max(minLookMs, stallMs / looksPerStall), maxTimerMs)
}

/** Calls `cut` after so long, unless called off. */
export function afterStall(stallMs: number, cut: () => void): () => void {
  let looks = 0
  const timer = setInterval(() => {
    looks += 1
    if (looks !== looksPerStall) return
    clearInterval(timer)
    cut()
  }, lookEveryMs(stallMs))
  return () => clearInterval(timer)
}
