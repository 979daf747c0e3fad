/**
 * Renews the leases of this process. Leases have a timer of their own, because other due work may take long. If the store has not
 * responded for as long as a lease lasts, the leases have expired and other processes may run the tasks: the agents are stopped at
 * once, not when the store responds again.
 */
import type { Store } from '../../stores/store.ts'
import type { EngineLog } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'
import type { createRecovery } from './recovery.ts'

export interface HeartbeatDeps {
  readonly leaseTtlMs: number
  readonly everyMs: number
  readonly log: EngineLog
  /** The monotonic clock: a lease renewed in time is not lost when the wall clock steps. */
  monotonicNow(): number
  heldTasks(): readonly LoadedTask[]
  renew(loadedTasks: readonly LoadedTask[]): Promise<void>
}

export function createLeaseHeartbeat({ leaseTtlMs, everyMs, log, monotonicNow, heldTasks, renew }: HeartbeatDeps) {
  /** Until when each lease is valid for certain, by the last response of the store. */
  let validUntil = new Map<LoadedTask, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let inFlight: Promise<void> | undefined

  return {
    start(): void {
      if (!Number.isFinite(leaseTtlMs)) return
      const next = setInterval(beat, everyMs)
      timer = next
      // The timer must not keep an otherwise idle process alive.
      if (typeof next === 'object' && 'unref' in next) next.unref()
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      await inFlight
    },
  }

  function beat(): void {
    const at = monotonicNow()
    const loadedTasks = heldTasks().filter(({ hasLease }) => hasLease)
    validUntil = new Map(loadedTasks.map((loaded) => [loaded, validUntil.get(loaded) ?? at + leaseTtlMs]))
    for (const [loaded, until] of validUntil) if (at >= until) stopHere(loaded)
    inFlight ??= prolong(loadedTasks, at).finally(() => {
      inFlight = undefined
    })
  }

  async function prolong(loadedTasks: readonly LoadedTask[], at: number): Promise<void> {
    try {
      await renew(loadedTasks)
      for (const loaded of loadedTasks) if (validUntil.has(loaded)) validUntil.set(loaded, at + leaseTtlMs)
    } catch (cause) {
      log.warn('leases could not be renewed', { tasks: loadedTasks.length, cause })
    }
  }

  function stopHere(loaded: LoadedTask): void {
    log.warn('a lease expired because the store did not answer; stopping the turn', { taskId: loaded.id })
    loaded.loseLease()
  }
}

// Looks for due work periodically, one round at a time, and survives a store that fails for a while.

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
