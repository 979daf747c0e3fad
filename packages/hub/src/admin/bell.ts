/** Wakes those who wait for something to happen; of many strokes while nobody waits, one is remembered for nobody. */

export interface Bell {
  ring(): void
  /** Resolves at the next stroke, after so long, or when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  let waiting = new Set<() => void>()
  return {
    ring() {
      const woken = waiting
      waiting = new Set()
      for (const wake of woken) wake()
    },
    wait(ms, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms)
        timer.unref()
        signal.addEventListener('abort', done, { once: true })
        waiting.add(done)
        function done(): void {
          clearTimeout(timer)
          waiting.delete(done)
          signal.removeEventListener('abort', done)
          resolve()
        }
      })
    },
  }
}
