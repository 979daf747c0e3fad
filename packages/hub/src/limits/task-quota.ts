/**
 * The number of tasks that a key may open per day (UTC), or the keys together that one caller created. Counted in the key-value
 * store, which all replicas share: before the call, so that concurrent calls cannot exceed it; and refunded if the call opened no
 * task.
 */
import type { KeyValueStore } from '@parley/a2a/stores'
import { sha256Hex } from '../auth/key-format.ts'

export interface QuotaCharge {
  readonly isAllowed: boolean
  readonly remaining: number
  /** The start of the next day; milliseconds since the epoch. */
  readonly resetAt: number
  /** Takes the charge back, because no task was opened. Later calls do nothing. */
  refund(): Promise<void>
}

export interface TaskQuota {
  /** `id`: of a key, or `creatorQuotaId`. */
  charge(id: string, tasksPerDay: number): Promise<QuotaCharge>
}

const kind = 'quota'

/** Counts the keys of one creator together. Hashed: the name may be longer than a key of the store. */
export function creatorQuotaId(creator: string): string {
  return `creator-${sha256Hex(creator)}`
}

const dayMs = 86_400_000

export function createTaskQuota(kv: KeyValueStore, now: () => number = Date.now): TaskQuota {
  return {
    async charge(id, tasksPerDay) {
      const day = Math.floor(now() / dayMs)
      const resetAt = (day + 1) * dayMs
      const key = `${id}/${new Date(day * dayMs).toISOString().slice(0, 10)}`
      // A day longer than needed: a refund after midnight must not restart the count.
      const add = (by: number): Promise<number> => kv.add(kind, key, by, resetAt + dayMs)
      const used = await add(1)
      let isHeld = true
      const takeBack = async (): Promise<void> => {
        if (!isHeld) return
        isHeld = false
        await add(-1)
      }
      const isAllowed = used <= tasksPerDay
      if (!isAllowed) await takeBack()
      return { isAllowed, remaining: Math.max(0, tasksPerDay - used), resetAt, refund: takeBack }
    },
  }
}
