/** The state changes of tasks, for the audit (T-12). Messages in between and repeated states are left out. */
import { isTerminal } from '@parley/a2a'
import type { OnEvent } from '@parley/a2a/server'
import type { AuditLog } from './audit-log.ts'
import { taskStateEntry } from './audit-entry.ts'

/** Tasks that wait for input for days are evicted by newer ones, and may then be recorded once more. */
const maxRemembered = 10_000

export function createTaskStateAudit(
  audit: Pick<AuditLog, 'record'>,
  now: () => number,
): { readonly onEvent: OnEvent } {
  const last = new Map<string, string>()
  return {
    onEvent(event, about) {
      const entry = taskStateEntry(event, about, now())
      if (entry?.state === undefined || last.get(about.taskId) === entry.state) return
      last.delete(about.taskId)
      if (!isTerminal(entry.state)) last.set(about.taskId, entry.state)
      const [oldest] = last.keys()
      if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest)
      audit.record(entry)
    },
  }
}
