/**
 * Renews the leases of this process. Leases have a timer of their own, because other due work may take long. If the store has not
 * responded for as long as a lease lasts, the leases have expired and other processes may run the tasks: the agents are stopped at
 * once, not when the store responds again.
 */
import type { EngineLog } from '../contract.ts'
import type { LoadedTask } from '../task/loaded-task.ts'

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
