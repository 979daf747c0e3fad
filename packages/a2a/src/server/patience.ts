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

/** Calls `cut` after `stallMs`, unless canceled. If `progress` has changed by then, the time starts again. */
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
  // A reader that is gone must not keep the process alive.
  ;(timer as { unref?(): unknown }).unref?.()
  return () => clearInterval(timer)
}

/** What we use of a socket. `_handle` is internal to Node and has the number of bytes that the system has not taken yet. */
export interface WatchedSocket {
  readonly bytesWritten?: number
  readonly writableLength?: number
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** How many bytes the system has taken so far, including a part of one large write. */
export function bytesTaken(socket: WatchedSocket | null | undefined): number {
  const { bytesWritten = 0, writableLength = 0, _handle: handle } = socket ?? {}
  return bytesWritten - writableLength - (handle?.writeQueueSize ?? 0)
}
