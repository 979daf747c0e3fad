/** Which state each task came to, for the audit (T-12): what is said on the way is not, and neither is the same state again. */
import { isTerminal } from '@parley/a2a'
import type { OnEvent } from '@parley/a2a/server'
import type { Audit } from './audit.ts'
import { entryOfEvent } from './entry.ts'

/** Tasks that wait for an answer for days are forgotten in favour of newer ones, and may be told of once more. */
const mostRemembered = 10_000

export function createTaskStates(audit: Pick<Audit, 'record'>, now: () => number): { readonly onEvent: OnEvent } {
  const last = new Map<string, string>()
  return {
    onEvent(event, about) {
      const entry = entryOfEvent(event, about, now())
      if (entry?.state === undefined || last.get(about.taskId) === entry.state) return
      last.delete(about.taskId)
      if (!isTerminal(entry.state)) last.set(about.taskId, entry.state)
      const [oldest] = last.keys()
      if (last.size > mostRemembered && oldest !== undefined) last.delete(oldest)
      audit.record(entry)
    },
  }
}
