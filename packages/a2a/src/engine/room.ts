/**
 * How many open tasks one caller may have. The store is asked only when the last count
 * no longer vouches for room, and calls whose task is not in the log yet are counted
 * here, so that many calls at once are not all let through by one look.
 */
import { A2AError } from '../model/error.ts'
import type { Store } from '../stores/store.ts'

interface Owner {
  /** How many more may enter before the store must be asked again. */
  room: number
  /** Those who entered and whose task is not open yet. */
  entering: number
  counting: Promise<void> | undefined
}

/** Of how many callers a count is remembered while none of their calls is underway. */
const maxOwners = 1_000

export interface Room {
  /** Rejects with RATE_LIMITED if there is none. What it answers is called once the task is open, or never will be. */
  enter(tenant: string, caller: string): (() => void) | Promise<() => void>
}

export function createRoom(store: Pick<Store, 'countActive'>, tasksPerCaller: number): Room {
  const owners = new Map<string, Owner>()

  return {
    enter(tenant, caller) {
      if (!Number.isFinite(tasksPerCaller)) return () => {}
      const owner = ownerOf(JSON.stringify([tenant, caller]))
      return owner.room > 0 ? letIn(owner) : countAndLetIn(owner, tenant, caller)
    },
  }

  function letIn(owner: Owner): () => void {
    owner.room -= 1
    owner.entering += 1
    return () => void (owner.entering -= 1)
  }

  async function countAndLetIn(owner: Owner, tenant: string, caller: string): Promise<() => void> {
    await (owner.counting ??= count(owner, tenant, caller))
    if (owner.room > 0) return letIn(owner)
    throw new A2AError('RATE_LIMITED', `No more than ${tasksPerCaller} tasks at a time`, { retryAfterSeconds: '5' })
  }

  function ownerOf(key: string): Owner {
    const known = owners.get(key)
    if (known !== undefined) return known
    if (owners.size >= maxOwners) forgetIdle()
    const owner: Owner = { room: 0, entering: 0, counting: undefined }
    owners.set(key, owner)
    return owner
  }

  function forgetIdle(): void {
    for (const [key, { entering, counting }] of owners) if (entering === 0 && counting === undefined) owners.delete(key)
  }

  async function count(owner: Owner, tenant: string, caller: string): Promise<void> {
    // Looked at first: one that opens meanwhile may be in both numbers, but is never in neither.
    const { entering } = owner
    try {
      owner.room = tasksPerCaller - entering - (await store.countActive(tenant, caller))
    } finally {
      owner.counting = undefined
    }
  }
}
