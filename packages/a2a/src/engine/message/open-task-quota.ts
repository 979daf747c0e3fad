/**
 * Limits the open tasks of one caller, and of callers with the same `limitedAs` together. The store is asked only when the last count no longer guarantees a free place. Calls whose
 * task is not in the log yet are counted here, so that one count does not admit many concurrent calls.
 */
import type { Caller } from '../../model/caller.ts'
import { A2AError } from '../../model/error.ts'
import type { TaskStore } from '../../stores/store.ts'

interface OwnerQuota {
  /** The callers whose tasks count. Those that did not call yet are unknown: the store has no `limitedAs`. */
  readonly callers: Set<string>
  /** How many more calls may be admitted before the store must be asked again. */
  available: number
  /** Admitted calls whose task is not open yet. */
  pending: number
  counting: Promise<void> | undefined
}

/** For how many callers without calls in flight a count is remembered. */
const maxOwners = 1_000

export interface OpenTaskQuota {
  /** Rejects with RATE_LIMITED if the quota is used up. Call the returned function once the task is open, or never will be. */
  reserve(tenant: string, caller: Caller): (() => void) | Promise<() => void>
}

export function createOpenTaskQuota(tasks: Pick<TaskStore, 'countActive'>, tasksPerCaller: number): OpenTaskQuota {
  const owners = new Map<string, OwnerQuota>()

  return {
    reserve(tenant, { id, limitedAs = id }) {
      if (!Number.isFinite(tasksPerCaller)) return () => {}
      const owner = ownerOf(JSON.stringify([tenant, limitedAs]), limitedAs)
      if (!owner.callers.has(id)) {
        owner.callers.add(id)
        // Its tasks are not in the last count.
        owner.available = 0
      }
      return owner.available > 0 ? grant(owner) : countAndGrant(owner, tenant)
    },
  }

  function grant(owner: OwnerQuota): () => void {
    owner.available -= 1
    owner.pending += 1
    return () => void (owner.pending -= 1)
  }

  async function countAndGrant(owner: OwnerQuota, tenant: string): Promise<() => void> {
    await (owner.counting ??= count(owner, tenant))
    if (owner.available > 0) return grant(owner)
    throw new A2AError('RATE_LIMITED', `At most ${tasksPerCaller} unfinished tasks per caller`, {
      retryAfterSeconds: '5',
    })
  }

  function ownerOf(key: string, caller: string): OwnerQuota {
    const known = owners.get(key)
    if (known !== undefined) return known
    if (owners.size >= maxOwners) forgetIdle()
    const owner: OwnerQuota = { callers: new Set([caller]), available: 0, pending: 0, counting: undefined }
    owners.set(key, owner)
    return owner
  }

  function forgetIdle(): void {
    for (const [key, { pending, counting }] of owners) if (pending === 0 && counting === undefined) owners.delete(key)
  }

  async function count(owner: OwnerQuota, tenant: string): Promise<void> {
    // Read it first: a task that opens meanwhile may be counted twice, but never zero times.
    const { pending } = owner
    let active = 0
    try {
      // One that calls meanwhile is counted, too.
      for (const caller of owner.callers) active += await tasks.countActive(tenant, caller)
      owner.available = tasksPerCaller - pending - active
    } finally {
      owner.counting = undefined
    }
  }
}
