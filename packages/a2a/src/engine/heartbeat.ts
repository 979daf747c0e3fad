/**
 * Keeps what is held. Leases are prolonged on a timer of their own, because what else is due may take its time. And
 * where the store has not been heard for as long as a lease lasts, the leases have run out and others may be at work:
 * the agents are stopped now, not when the store answers again.
 */
import type { EngineLog } from './contract.ts'
import type { Live } from './live.ts'

export interface HeartbeatParts {
  readonly leaseTtlMs: number
  readonly everyMs: number
  readonly log: EngineLog
  /** The monotonic clock: a lease that is renewed in time is not lost because the wall clock was set. */
  monotonicNow(): number
  held(): readonly Live[]
  renew(lives: readonly Live[]): Promise<void>
}

export function createHeartbeat({ leaseTtlMs, everyMs, log, monotonicNow, held, renew }: HeartbeatParts) {
  /** Until when each lease surely lasts, by what the store last said. */
  let lasts = new Map<Live, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let underway: Promise<void> | undefined

  return {
    start(): void {
      if (!Number.isFinite(leaseTtlMs)) return
      const next = setInterval(beat, everyMs)
      timer = next
      // A timer must not keep a process alive that has nothing else to do.
      if (typeof next === 'object' && 'unref' in next) next.unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await underway
    },
  }

  function beat(): void {
    const at = monotonicNow()
    const lives = held().filter(({ owned }) => owned)
    lasts = new Map(lives.map((live) => [live, lasts.get(live) ?? at + leaseTtlMs]))
    for (const [live, until] of lasts) if (at >= until) stopHere(live)
    underway ??= prolong(lives, at).finally(() => {
      underway = undefined
    })
  }

  async function prolong(lives: readonly Live[], at: number): Promise<void> {
    try {
      await renew(lives)
      for (const live of lives) if (lasts.has(live)) lasts.set(live, at + leaseTtlMs)
    } catch (cause) {
      log.warn('leases could not be prolonged', { tasks: lives.length, cause })
    }
  }

  function stopHere(live: Live): void {
    log.warn('a lease ran out because the store did not answer; the turn is stopped here', { taskId: live.id })
    live.loseLease()
  }
}
