/** Looks for due work again and again, one round at a time, and survives a store that fails for a while. */
import type { Store } from '../stores/store.ts'
import type { EngineLog } from './contract.ts'
import type { createRecovery } from './recover.ts'

export interface SweepParts {
  readonly store: Store
  readonly log: EngineLog
  readonly recovery: ReturnType<typeof createRecovery>
  readonly sweepMs: number
}

/** Retention is looked after less often: it is housekeeping, nobody waits for it. */
const pruneEvery = 10

export function createSweep({ store, log, recovery, sweepMs }: SweepParts) {
  const shared = Number.isFinite(store.leaseTtlMs)
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let round = 0
  let underway: Promise<void> | undefined

  return {
    start: plan,
    /** Nothing more is begun at once; resolves when nothing is being taken up any more. */
    async stop(): Promise<void> {
      stopped = true
      clearTimeout(timer)
      await underway
    },
  }

  function plan(): void {
    if (stopped) return
    const next = setTimeout(() => {
      underway = sweep()
    }, sweepMs)
    timer = next
    // A timer must not keep a process alive that has nothing else to do.
    if (typeof next === 'object' && 'unref' in next) next.unref()
  }

  async function sweep(): Promise<void> {
    round += 1
    if (shared) await attempt(recovery.takeUpOrphans)
    await attempt(recovery.retryLost)
    await attempt(recovery.actOnDue)
    if (round % pruneEvery === 1) await attempt(recovery.prune)
    plan()
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    if (stopped) return
    try {
      await work()
    } catch (cause) {
      if (!stopped) log.warn('due work could not be done', { cause })
    }
  }
}
