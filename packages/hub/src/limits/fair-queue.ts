/**
 * A concurrency limit with a fair queue: round robin over callers, first come first served within each. A caller with a thousand
 * waiting turns delays another one by one slot, not by a thousand.
 */
export interface FairQueue {
  /** Returns a slot at once, if one is free and the queue is empty. */
  tryAcquire(): ReleaseSlot | undefined
  /** Rejects with the reason of `signal` if it aborts first, and then leaves the queue. */
  acquire(caller: string, signal: AbortSignal): Promise<ReleaseSlot>
  readonly waiting: number
  readonly running: number
}

/** Releases the slot; later calls do nothing. */
export type ReleaseSlot = () => void

interface Waiter {
  resolve(release: ReleaseSlot): void
}

export function createFairQueue(slots: number): FairQueue {
  /** In round-robin order. A caller without a waiter is not in it. */
  const waitersByCaller = new Map<string, Waiter[]>()
  let inside = 0
  let waiting = 0

  function takeSlot(): ReleaseSlot {
    inside += 1
    let isAcquired = true
    return () => {
      if (!isAcquired) return
      isAcquired = false
      inside -= 1
      next()
    }
  }

  function next(): void {
    if (inside >= slots) return
    for (const [caller, waiters] of waitersByCaller) {
      const waiter = waiters.shift() as Waiter
      waitersByCaller.delete(caller)
      // A caller with more waiters goes to the end.
      if (waiters.length > 0) waitersByCaller.set(caller, waiters)
      waiting -= 1
      waiter.resolve(takeSlot())
      return
    }
  }

  function drop(caller: string, waiter: Waiter): void {
    const waiters = waitersByCaller.get(caller)
    const at = waiters?.indexOf(waiter) ?? -1
    if (waiters === undefined || at < 0) return
    waiters.splice(at, 1)
    if (waiters.length === 0) waitersByCaller.delete(caller)
    waiting -= 1
  }

  return {
    tryAcquire: () => (inside < slots && waiting === 0 ? takeSlot() : undefined),
    acquire(caller, signal) {
      return new Promise<ReleaseSlot>((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason as Error)
          return
        }
        const stop = (): void => {
          drop(caller, waiter)
          reject(signal.reason as Error)
        }
        const waiter: Waiter = {
          resolve(release) {
            signal.removeEventListener('abort', stop)
            resolve(release)
          },
        }
        signal.addEventListener('abort', stop, { once: true })
        const waiters = waitersByCaller.get(caller)
        if (waiters === undefined) waitersByCaller.set(caller, [waiter])
        else waiters.push(waiter)
        waiting += 1
        next()
      })
    },
    get waiting() {
      return waiting
    },
    get running() {
      return inside
    },
  }
}
