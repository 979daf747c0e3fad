/** Limits concurrency; waiting callers are served in order of arrival. */

interface Semaphore {
  /** Resolves with the release function, which may be called twice. Rejects when the signal aborts. */
  acquire(signal: AbortSignal): Promise<() => void>
  /** Whether a caller waits. */
  readonly hasWaiters: boolean
  readonly isFull: boolean
}

export function createSemaphore(limit: number): Semaphore {
  const waiting = new Set<() => void>()
  let taken = 0

  function release(): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      // Passed directly to the next waiting caller, so that a new one cannot overtake it.
      const [next] = waiting
      if (next === undefined) taken -= 1
      else next()
    }
  }

  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (taken >= limit) await waitForSlot(signal)
      else taken += 1
      return release()
    },
    get hasWaiters() {
      return waiting.size > 0
    },
    get isFull() {
      return taken >= limit
    },
  }

  function waitForSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        waiting.delete(onSlot)
        reject(signal.reason as Error)
      }
      const onSlot = (): void => {
        waiting.delete(onSlot)
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      waiting.add(onSlot)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }
}

export interface KeyedMutex {
  acquire(key: string, signal: AbortSignal): Promise<() => void>
}

/** A mutex per key, in order of arrival. Unused keys are removed. */
export function createKeyedMutex(): KeyedMutex {
  const mutexes = new Map<string, Semaphore>()
  return {
    async acquire(key, signal) {
      signal.throwIfAborted()
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
