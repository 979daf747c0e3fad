/** An audit entry as readable text. */
import type { AuditEntry } from '../../../api/admin.ts'
import type { StatusDisplay } from '../../../components/status/task-state.tsx'

const actionTexts: Readonly<Record<string, string>> = {
  card: 'read the card',
  'key.created': 'created a key',
  'key.rotated': 'rotated keys',
  'key.revoked': 'revoked a key',
  'session.opened': 'signed in',
  'session.ended': 'signed out',
  'config.applied': 'changed the configuration',
  'secret.set': 'set a secret',
  'secret.removed': 'removed a secret',
  'card.approved': 'approved a card',
  'agent.retried': 'retried an agent',
  'agent.retry-stopped': 'stopped retrying an agent',
}

export function auditAction({ event, operation, state, count }: AuditEntry): string {
  if (event === 'task.state')
    return `task is ${(state ?? '').replace('TASK_STATE_', '').toLowerCase().replace('_', ' ')}`
  if (event === 'audit.lost') return `${count ?? 0} entries could not be written`
  const sentence = actionTexts[event]
  if (sentence !== undefined) return sentence
  return operation === undefined || operation === '' ? event : operation
}

export function auditActor({ who, whoName = who, event }: AuditEntry): string {
  if (whoName !== undefined) return whoName
  return event === 'audit.lost' ? 'the hub' : 'unknown'
}

/** The outcome: `OK` or the error code. A task state has none. */
export function outcomeStatus({ outcome, event }: AuditEntry): (StatusDisplay & { readonly word: string }) | undefined {
  if (event === 'audit.lost') return { tone: 'failed', shape: '✕', word: 'Lost' }
  if (outcome === undefined) return undefined
  if (outcome === 'OK') return { tone: 'done', shape: '●', word: 'OK' }
  const word = outcome.toLowerCase().replaceAll('_', ' ')
  const isOurs = /INTERNAL|UNAVAILABLE/.test(outcome)
  return { tone: isOurs ? 'failed' : 'waiting', shape: isOurs ? '✕' : '◇', word }
}
