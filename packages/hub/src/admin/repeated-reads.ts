/**
 * Who looks at the same thing again and again, as an open page of the console does, is in the audit once a minute and not with
 * every look: else a page that is left open overnight would be most of what the audit holds.
 */
import type { AuditEntry } from '../audit/entry.ts'

const quietMs = 60_000
const most = 10_000

/** Answers whether this is the same look as one within the last minute. */
export function createRepeatedReads(): (entry: AuditEntry) => boolean {
  const seen = new Map<string, number>()
  return ({ at, who, operation, outcome, agent, task, key, from }) => {
    if (outcome !== 'OK' || !/^(GET|HEAD) /.test(operation ?? '')) return false
    const look = JSON.stringify([who, operation, agent, task, key, from])
    const before = seen.get(look)
    if (before !== undefined && at - before < quietMs) return true
    // Those that were noted last are at the end, so the oldest go first.
    seen.delete(look)
    seen.set(look, at)
    for (const oldest of seen.keys()) {
      if (seen.size <= most) break
      seen.delete(oldest)
    }
    return false
  }
}
