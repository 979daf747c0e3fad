/** Wakes those who wait for something to happen. Strokes are counted, so that one which came while nobody waited is not lost. */

export interface Bell {
  ring(): void
  strokes(): number
  /** Resolves once there were more strokes than `heard`, after so long, or when the signal aborts. */
  wait(heard: number, ms: number, signal: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  let count = 0
  let waiting = new Set<() => void>()
  return {
    ring() {
      count += 1
      const woken = waiting
      waiting = new Set()
      for (const wake of woken) wake()
    },
    strokes: () => count,
    wait(heard, ms, signal) {
      if (count > heard || signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = setTimeout(done, ms).unref()
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
