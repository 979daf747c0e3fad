/**
 * Repeated reads of the same resource, as an open page of the console sends them, are audited once a minute: otherwise a page left
 * open overnight would fill the audit.
 */
import type { AuditEntry } from '../audit/audit-entry.ts'

const repeatWindowMs = 60_000
const maxRemembered = 10_000

/** Returns whether the same read happened within the last minute. */
export function createRepeatedReadFilter(): (entry: AuditEntry) => boolean {
  const seen = new Map<string, number>()
  return ({ at, who, operation, outcome, agent, task, key, from }) => {
    if (outcome !== 'OK' || !/^(GET|HEAD) /.test(operation ?? '')) return false
    const readKey = JSON.stringify([who, operation, agent, task, key, from])
    const before = seen.get(readKey)
    if (before !== undefined && at - before < repeatWindowMs) return true
    // Moved to the end, so that the oldest are evicted first.
    seen.delete(readKey)
    seen.set(readKey, at)
    for (const oldest of seen.keys()) {
      if (seen.size <= maxRemembered) break
      seen.delete(oldest)
    }
    return false
  }
}
