/** Looks for due work periodically, one round at a time, and survives a store that fails for a while. */
import type { Store } from '../../stores/store.ts'
import type { EngineLog } from '../contract.ts'
import type { createRecovery } from './recovery.ts'

export interface SweepDeps {
  readonly store: Store
  readonly log: EngineLog
  readonly recovery: ReturnType<typeof createRecovery>
  readonly sweepMs: number
}

/** Pruning runs less often: it is housekeeping, and no caller waits for it. */
const pruneEvery = 10

export function createSweep({ store, log, recovery, sweepMs }: SweepDeps) {
  const isShared = Number.isFinite(store.leaseTtlMs)
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let round = 0
  let inFlight: Promise<void> | undefined

  return {
    start: schedule,
    /** Starts nothing more; resolves when the current round has ended. */
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await inFlight
    },
  }

  function schedule(): void {
    if (stopped) return
    const next = setTimeout(() => {
      inFlight = sweep()
    }, sweepMs)
    timer = next
    // The timer must not keep an otherwise idle process alive.
    if (typeof next === 'object' && 'unref' in next) next.unref()
  }

  async function sweep(): Promise<void> {
    round += 1
    if (isShared) await attempt(recovery.takeUpOrphans)
    await attempt(recovery.retryLost)
    await attempt(recovery.actOnDue)
    if (round % pruneEvery === 1) await attempt(recovery.prune)
    schedule()
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    if (stopped) return
    try {
      await work()
    } catch (cause) {
      if (!stopped) log.warn('due work failed', { cause })
    }
  }
}
