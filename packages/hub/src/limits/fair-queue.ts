/**
 * So many at one time, the others in turn: round robin over callers, first come first served within each. A caller with a
 * thousand in the queue delays one with a single one by one place, not by a thousand.
 */
export interface FairQueue {
  /** A place at once, if one is free and nobody waits. */
  tryEnter(): Leave | undefined
  /** Rejects with the reason of `signal` if that comes first; then nothing is waited for any more. */
  enter(caller: string, signal: AbortSignal): Promise<Leave>
  readonly waiting: number
  readonly inside: number
}

/** Gives the place back, once. */
export type Leave = () => void

interface Waiter {
  admit(leave: Leave): void
}

export function createFairQueue(places: number): FairQueue {
  /** In the order in which callers have their turn. A caller without a waiter is not in it. */
  const lines = new Map<string, Waiter[]>()
  let inside = 0
  let waiting = 0

  function place(): Leave {
    inside += 1
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      inside -= 1
      next()
    }
  }

  function next(): void {
    if (inside >= places) return
    for (const [caller, line] of lines) {
      const waiter = line.shift() as Waiter
      lines.delete(caller)
      // Behind all the others, if there are more of this caller's.
      if (line.length > 0) lines.set(caller, line)
      waiting -= 1
      waiter.admit(place())
      return
    }
  }

  function drop(caller: string, waiter: Waiter): void {
    const line = lines.get(caller)
    const at = line?.indexOf(waiter) ?? -1
    if (line === undefined || at < 0) return
    line.splice(at, 1)
    if (line.length === 0) lines.delete(caller)
    waiting -= 1
  }

  return {
    tryEnter: () => (inside < places && waiting === 0 ? place() : undefined),
    enter(caller, signal) {
      return new Promise<Leave>((resolve, reject) => {
        if (signal.aborted) {
          reject(signal.reason as Error)
          return
        }
        const stop = (): void => {
          drop(caller, waiter)
          reject(signal.reason as Error)
        }
        const waiter: Waiter = {
          admit(leave) {
            signal.removeEventListener('abort', stop)
            resolve(leave)
          },
        }
        signal.addEventListener('abort', stop, { once: true })
        const line = lines.get(caller)
        if (line === undefined) lines.set(caller, [waiter])
        else line.push(waiter)
        waiting += 1
        next()
      })
    },
    get waiting() {
      return waiting
    },
    get inside() {
      return inside
    },
  }
}
