/**
 * How many tasks a key may open in a day (UTC). Counted in the notes, which all replicas share: before the call, so that
 * calls that come together cannot open more than that; and taken back if no task came of it.
 */
import type { Notes } from '@parley/a2a'

export interface Counted {
  readonly isAllowed: boolean
  readonly remaining: number
  /** When the next day begins; milliseconds since the epoch. */
  readonly resetAt: number
  /** Nothing was opened after all. Does so once. */
  takeBack(): Promise<void>
}

export interface Quota {
  count(keyId: string, tasksPerDay: number): Promise<Counted>
}

const kind = 'quota'
const dayMs = 86_400_000

export function createQuota(notes: Notes, now: () => number = Date.now): Quota {
  return {
    async count(keyId, tasksPerDay) {
      const day = Math.floor(now() / dayMs)
      const resetAt = (day + 1) * dayMs
      const note = `${keyId}/${new Date(day * dayMs).toISOString().slice(0, 10)}`
      // A day longer than it is needed: what is taken back after midnight must not begin the count anew.
      const add = (by: number): Promise<number> => notes.add(kind, note, by, resetAt + dayMs)
      const used = await add(1)
      let isHeld = true
      const takeBack = async (): Promise<void> => {
        if (!isHeld) return
        isHeld = false
        await add(-1)
      }
      const isAllowed = used <= tasksPerDay
      if (!isAllowed) await takeBack()
      return { isAllowed, remaining: Math.max(0, tasksPerDay - used), resetAt, takeBack }
    },
  }
}
