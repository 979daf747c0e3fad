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

/** Calls `cut` after so long, unless called off. A look that finds something moved begins the time anew. */
export function afterStall(stallMs: number, cut: () => void, progress?: () => unknown): () => void {
  let looks = 0
  let last = progress?.()
  const timer = setInterval(() => {
    const now = progress?.()
    looks = now === last ? looks + 1 : 0
    last = now
    if (looks !== looksPerStall) return
    clearInterval(timer)
    cut()
  }, lookEveryMs(stallMs))
  // A reader that is gone for good must not keep the process.
  ;(timer as { unref?(): unknown }).unref?.()
  return () => clearInterval(timer)
}

/** What we use of a socket: `_handle` is Node's own, and says how much of what was written the system has not taken. */
export interface WatchedSocket {
  readonly bytesWritten?: number
  readonly writableLength?: number
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** How many bytes the reader's side has taken so far: of one large write, too, a part may be gone. */
export function bytesTaken(socket: WatchedSocket | null | undefined): number {
  const { bytesWritten = 0, writableLength = 0, _handle: handle } = socket ?? {}
  return bytesWritten - writableLength - (handle?.writeQueueSize ?? 0)
}
