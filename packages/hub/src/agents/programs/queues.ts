/** One at a time for each key, in the order they came; keys that nobody wants are forgotten. */
import type { Slots } from './slots.ts'
import { createSlots } from './slots.ts'

export interface Queues {
  take(key: string, signal: AbortSignal): Promise<() => void>
}

export function createQueues(): Queues {
  const queues = new Map<string, Slots>()
  return {
    async take(key, signal) {
      const one = queues.get(key) ?? createSlots(1)
      queues.set(key, one)
      const release = await one.take(signal)
      return () => {
        if (!one.isWanted) queues.delete(key)
        release()
      }
    },
  }
}
