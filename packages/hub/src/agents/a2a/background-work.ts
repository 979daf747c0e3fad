/**
 * Work that continues after its turn has ended, such as canceling a remote task. Closing the agent waits a short time for
 * it.
 */
import { resultWithin } from './delay.ts'
import type { BackgroundWork } from './cancellation.ts'

/** A remote agent that does not answer must not block the shutdown of the hub. */
const closeGraceMs = 1_000

export function createBackgroundWork(): BackgroundWork & { close(): Promise<void> } {
  const closing = new AbortController()
  const working = new Set<Promise<void>>()
  return {
    signal: closing.signal,
    add(work) {
      working.add(work)
      void work.finally(() => working.delete(work))
    },
    async close() {
      await resultWithin(Promise.all(working), closeGraceMs)
      closing.abort(new Error('the agent is being closed'))
      await Promise.all(working)
    },
  }
}
