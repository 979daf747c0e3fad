/** Limits of open streams: how many a caller may have, so that one cannot take them all (B-170), and how long a reader may take nothing. */
import { maxTimerMs } from '../../model/clock.ts'
import { A2AError } from '../../model/error.ts'

export interface StreamLimits {
  /** Throws RATE_LIMITED. Returns a function that releases the slot; later calls of it do nothing. */
  acquire(callerId: string, agent: string): () => void
  /** Open streams of all callers: of one agent, or of all agents. */
  openStreams(agent?: string): number
}

export function createStreamLimits(most: number): StreamLimits {
  const taken = new Map<string, number>()
  const served = new Map<string, number>()
  let all = 0
  return {
    openStreams: (agent) => (agent === undefined ? all : (served.get(agent) ?? 0)),
    acquire(callerId, agent) {
      const count = taken.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} streams may be open at one time`)
      taken.set(callerId, count + 1)
      served.set(agent, (served.get(agent) ?? 0) + 1)
      all += 1
      let held = true
      return () => {
        if (!held) return
        held = false
        all -= 1
        served.set(agent, (served.get(agent) ?? 1) - 1)
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}

// How long the server waits for a reader that takes nothing. Measured by several checks, never by one timer or the clock: after the
// process stood still (a busy loop, a debugger, a sleeping machine) timers run before pending input is read, and every reader would
// be disconnected for a pause of the server itself. Such a pause costs only one of the checks.

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

// An event stream that the operator can end while it is open, for example when the credentials that opened it are revoked. The
