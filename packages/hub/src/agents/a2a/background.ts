/** Work that goes on when its turn is over, such as canceling: it ends in good order when the agent is closed, or soon after. */
import { within } from './pause.ts'
import type { Background } from './stopping.ts'

/** A remote agent that does not answer must not keep the hub from going. */
const lingerMs = 1_000

export function createBackground(): Background & { close(): Promise<void> } {
  const closing = new AbortController()
  const working = new Set<Promise<void>>()
  return {
    signal: closing.signal,
    add(work) {
      working.add(work)
      void work.finally(() => working.delete(work))
    },
    async close() {
      await within(Promise.all(working), lingerMs)
      closing.abort(new Error('the agent is being closed'))
      await Promise.all(working)
    },
  }
}
