/** A mutex per key, in order of arrival. Unused keys are removed. */
import type { Semaphore } from './semaphore.ts'
import { createSemaphore } from './semaphore.ts'

export interface KeyedMutex {
  acquire(key: string, signal: AbortSignal): Promise<() => void>
}

export function createKeyedMutex(): KeyedMutex {
  const mutexes = new Map<string, Semaphore>()
  return {
    async acquire(key, signal) {
      const mutex = mutexes.get(key) ?? createSemaphore(1)
      mutexes.set(key, mutex)
      const release = await mutex.acquire(signal)
      return () => {
        if (!mutex.hasWaiters) mutexes.delete(key)
        release()
      }
    },
  }
}
