/**
 * Limits the open tasks of one caller. The store is asked only when the last count no longer guarantees a free place. Calls whose
 * task is not in the log yet are counted here, so that one count does not admit many concurrent calls.
 */
import { A2AError } from '../../model/error.ts'
import type { TaskStore } from '../../stores/store.ts'

interface OwnerQuota {
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
  reserve(tenant: string, caller: string): (() => void) | Promise<() => void>
}

export function createOpenTaskQuota(tasks: Pick<TaskStore, 'countActive'>, tasksPerCaller: number): OpenTaskQuota {
  const owners = new Map<string, OwnerQuota>()

  return {
    reserve(tenant, caller) {
      if (!Number.isFinite(tasksPerCaller)) return () => {}
      const owner = ownerOf(JSON.stringify([tenant, caller]))
      return owner.available > 0 ? grant(owner) : countAndGrant(owner, tenant, caller)
    },
  }

  function grant(owner: OwnerQuota): () => void {
    owner.available -= 1
    owner.pending += 1
    return () => void (owner.pending -= 1)
  }

  async function countAndGrant(owner: OwnerQuota, tenant: string, caller: string): Promise<() => void> {
    await (owner.counting ??= count(owner, tenant, caller))
    if (owner.available > 0) return grant(owner)
    throw new A2AError('RATE_LIMITED', `At most ${tasksPerCaller} unfinished tasks per caller`, {
      retryAfterSeconds: '5',
    })
  }

  function ownerOf(key: string): OwnerQuota {
    const known = owners.get(key)
    if (known !== undefined) return known
    if (owners.size >= maxOwners) forgetIdle()
    const owner: OwnerQuota = { available: 0, pending: 0, counting: undefined }
    owners.set(key, owner)
    return owner
  }

  function forgetIdle(): void {
    for (const [key, { pending, counting }] of owners) if (pending === 0 && counting === undefined) owners.delete(key)
  }

  async function count(owner: OwnerQuota, tenant: string, caller: string): Promise<void> {
    // Read it first: a task that opens meanwhile may be counted twice, but never zero times.
    const { pending } = owner
    try {
      owner.available = tasksPerCaller - pending - (await tasks.countActive(tenant, caller))
    } finally {
      owner.counting = undefined
    }
  }
}
