/** An audit entry as readable text. */
import type { AuditEntry } from '../../../api/admin.ts'
import type { StatusDisplay } from '../../../components/status/task-state.tsx'
import { auditStrings as words } from './strings.ts'

const actionTexts: Readonly<Record<string, string>> = words.actions

export function auditAction({ event, operation, state, count }: AuditEntry): string {
  if (event === 'task.state')
    return words.taskIs((state ?? '').replace('TASK_STATE_', '').toLowerCase().replace('_', ' '))
  if (event === 'audit.lost') return words.lost(count ?? 0)
  const sentence = actionTexts[event]
  if (sentence !== undefined) return sentence
  return operation === undefined || operation === '' ? event : operation
}

export function auditActor({ who, event }: AuditEntry): string {
  if (who !== undefined) return who
  return event === 'audit.lost' ? words.hub : words.unknown
}

/** The outcome: `OK` or the error code. A task state has none. */
export function outcomeStatus({ outcome, event }: AuditEntry): (StatusDisplay & { readonly word: string }) | undefined {
  if (event === 'audit.lost') return { tone: 'failed', shape: '✕', word: words.lostWord }
  if (outcome === undefined) return undefined
  if (outcome === 'OK') return { tone: 'done', shape: '●', word: words.okWord }
  const word = outcome.toLowerCase().replaceAll('_', ' ')
  const isOurs = /INTERNAL|UNAVAILABLE/.test(outcome)
  return { tone: isOurs ? 'failed' : 'waiting', shape: isOurs ? '✕' : '◇', word }
}
