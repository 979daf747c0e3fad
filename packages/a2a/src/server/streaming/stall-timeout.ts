/**
 * How long the server waits for a reader that takes nothing. Measured by several checks, never by one timer or the clock: after the
 * process stood still (a busy loop, a debugger, a sleeping machine) timers run before pending input is read, and every reader would
 * be disconnected for a pause of the server itself. Such a pause costs only one of the checks.
 */
import { maxTimerMs } from '../../engine/shared-timers.ts'

export const checksPerStall = 4

/** Lower bound for any setting, so that checks do not become most of the work. */
const minCheckMs = 20

export function stallCheckIntervalMs(stallMs: number): number {
  return Math.min(Math.max(minCheckMs, stallMs / checksPerStall), maxTimerMs)
}

/** Calls `cut` after `stallMs`, unless canceled. If `progress` has changed by then, the time starts again. */
export function startStallTimer(stallMs: number, cut: () => void, progress?: () => unknown): () => void {
  let looks = 0
  let last = progress?.()
  const timer = setInterval(() => {
    const now = progress?.()
    looks = now === last ? looks + 1 : 0
    last = now
    if (looks !== checksPerStall) return
    clearInterval(timer)
    cut()
  }, stallCheckIntervalMs(stallMs))
  // A reader that is gone must not keep the process alive.
  ;(timer as { unref?(): unknown }).unref?.()
  return () => clearInterval(timer)
}

/** The used part of a socket. `_handle` is internal to Node and has the number of bytes that the system has not taken yet. */
export interface SocketProgress {
  readonly bytesWritten?: number
  readonly writableLength?: number
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** How many bytes the system has taken so far, including a part of one large write. */
export function bytesSent(socket: SocketProgress | null | undefined): number {
  const { bytesWritten = 0, writableLength = 0, _handle: handle } = socket ?? {}
  return bytesWritten - writableLength - (handle?.writeQueueSize ?? 0)
}
