/** Looks for due work again and again, one round at a time, and survives a store that fails for a while. */
import type { Store } from '../stores/store.ts'
import type { EngineLog } from './contract.ts'
import type { Live } from './live.ts'
import type { createRecovery } from './recover.ts'

export interface SweepParts {
  readonly store: Store
  readonly log: EngineLog
  readonly recovery: ReturnType<typeof createRecovery>
  readonly sweepMs: number
  held(): readonly Live[]
}

/** Retention is looked after less often: it is housekeeping, nobody waits for it. */
const pruneEvery = 10

export function createSweep({ store, log, recovery, sweepMs, held }: SweepParts) {
  const shared = Number.isFinite(store.leaseTtlMs)
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let onlyRenews = false
  let round = 0
  let underway: Promise<void> | undefined

  return {
    start: plan,
    /** What is held stays held, and nothing else is looked for. */
    onlyRenew(): void {
      onlyRenews = true
    },
    /** Resolves when nothing is being taken up any more. */
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

  function renew(): Promise<void> {
    return recovery.renewLeases(held())
  }

  async function sweep(): Promise<void> {
    round += 1
    // Leases first: what else is late can wait, a lease that runs out cannot.
    if (shared) {
      await attempt(renew)
      await attempt(recovery.takeUpOrphans)
    }
    await attempt(recovery.retryLost)
    await attempt(recovery.actOnDue)
    if (round % pruneEvery === 1) await attempt(recovery.prune)
    plan()
  }

  async function attempt(work: () => Promise<void>): Promise<void> {
    if (stopped || (onlyRenews && work !== renew)) return
    try {
      await work()
    } catch (cause) {
      if (!stopped) log.warn('due work could not be done', { cause })
    }
  }
}
