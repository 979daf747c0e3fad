/** The filters of the audit log: from the address, and as a query to the hub. */
import type { Operations } from '../../../api/admin.ts'
import { timePresets, timeRange } from '../../../components/filters/time-presets.ts'
import {
  parseInstant,
  parseOption,
  parseText,
  setFilters,
  urlFilters,
} from '../../../components/filters/url-filters.ts'
import type { FiltersOf } from '../../../components/filters/url-filters.ts'

const events = {
  call: 'Agent calls',
  'task.state': 'Task states',
  card: 'Card reads',
  'session.opened': 'Sign-ins',
  'session.ended': 'Sign-outs',
  'key.created': 'Keys created',
  'key.rotated': 'Keys rotated',
  'key.revoked': 'Keys revoked',
  'config.applied': 'Configuration changes',
  'secret.set': 'Secrets set',
  'secret.removed': 'Secrets removed',
  'card.approved': 'Cards approved',
  'agent.retried': 'Agents retried',
  'agent.retry-stopped': 'Retries stopped',
  admin: 'Other admin requests',
  'audit.lost': 'Lost entries',
}
const outcomes = {
  OK: 'Succeeded',
  UNAUTHENTICATED: 'Not authenticated',
  PERMISSION_DENIED: 'Permission denied',
  RATE_LIMITED: 'Rate limited',
  INVALID_PARAMS: 'Invalid request',
  NOT_FOUND: 'Not found',
  CONFLICT: 'Conflict',
  UNAVAILABLE: 'Unavailable',
  AGENT_UNAVAILABLE: 'Agent unavailable',
  INTERNAL: 'Internal error',
}

export type AuditQuery = Operations['listAudit']['query']

export const auditEventOptions: readonly (readonly [event: string, text: string])[] = [
  ['', 'All events'],
  ...Object.entries(events),
]

export const auditOutcomeOptions: readonly (readonly [outcome: string, text: string])[] = [
  ['', 'All outcomes'],
  ...Object.entries(outcomes),
]

export const auditFilters = urlFilters({
  who: parseText,
  agent: parseText,
  event: parseText,
  operation: parseText,
  outcome: parseText,
  key: parseText,
  task: parseText,
  text: parseText,
  time: parseOption(timePresets),
  since: parseInstant,
  until: parseInstant,
  /** Includes reads by admins, which a console makes all the time. */
  reads: (param) => param === '1',
})
export type AuditFilters = FiltersOf<typeof auditFilters>

/** "The last hour" is relative to `now`. */
export function auditListQuery({ time, since, until, reads, ...rest }: AuditFilters, now: number): AuditQuery {
  return { ...setFilters(rest), ...timeRange({ time, since, until }, now), reads: reads ? 'yes' : 'no' }
}

/** The time of a cursor of the audit log, which is a UUID version 7. */
export function auditCursorTime(cursor: string | number | undefined): number | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(String(cursor))
  return digits === null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}

/** The cursor of a page that starts with this entry. */
export function auditCursorAfter(id: string): string {
  const [note = '', index = '0'] = id.split('.')
  return `${note}.${Number(index) + 1}`
}
