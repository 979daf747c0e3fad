/** Lets a fixed number of tasks run at the same time; others wait in the order in which they came. */
import { abortable } from '@parley/a2a/internal'

export interface ConcurrencyLimit {
  /** Resolves to the function that frees the slot. Rejects with the reason of the signal. */
  acquire(signal: AbortSignal): Promise<() => void>
}

export function createConcurrencyLimit(max: number): ConcurrencyLimit {
  const waiting: (() => void)[] = []
  let running = 0

  function release(): void {
    const next = waiting.shift()
    // The slot passes to the next one without becoming free.
    if (next === undefined) running -= 1
    else next()
  }

  return {
    async acquire(signal) {
      signal.throwIfAborted()
      if (running < max) {
        running += 1
        return once(release)
      }
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      try {
        await abortable(signal, promise)
      } catch (reason) {
        const index = waiting.indexOf(resolve)
        // The slot was passed on in the same moment.
        if (index < 0) release()
        else waiting.splice(index, 1)
        throw reason
      }
      return once(release)
    },
  }
}

function once(action: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) action()
    isDone = true
  }
}
