/** So many at once, the others in the order they came. */

export interface Slots {
  /** Resolves with what gives it back, which may be called twice. Whoever is aborted waits no longer. */
  take(signal: AbortSignal): Promise<() => void>
  /** Somebody waits. */
  readonly isWanted: boolean
  readonly isFull: boolean
}

export function createSlots(limit: number): Slots {
  const waiting = new Set<() => void>()
  let taken = 0

  function release(): () => void {
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      // Handed on rather than given back, or somebody who has just come would be first.
      const [next] = waiting
      if (next === undefined) taken -= 1
      else next()
    }
  }

  return {
    async take(signal) {
      signal.throwIfAborted()
      if (taken >= limit) await turn(signal)
      else taken += 1
      return release()
    },
    get isWanted() {
      return waiting.size > 0
    },
    get isFull() {
      return taken >= limit
    },
  }

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(enter)
        reject(signal.reason as Error)
      }
      const enter = (): void => {
        waiting.delete(enter)
        signal.removeEventListener('abort', leave)
        resolve()
      }
      waiting.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
