/** The filters of the audit log: from the address, and as a query to the hub. */
import type { AuditEntry, Operations } from '../../../api/admin.ts'
import { timePresetMs, timePresets } from '../../../components/filters/time-presets.ts'

export type AuditQuery = Operations['listAudit']['query']

export interface AuditFilters {
  readonly who: string
  readonly agent: string
  readonly event: string
  readonly operation: string
  readonly outcome: string
  readonly key: string
  readonly task: string
  readonly text: string
  readonly time: string
  readonly since: string
  readonly until: string
  /** Includes reads by admins, which a console makes all the time. */
  readonly reads: boolean
}

/** As the hub names them. */
export const auditEventOptions: readonly (readonly [event: string, text: string])[] = [
  ['', 'All events'],
  ['call', 'Calls of agents'],
  ['task.state', 'States of tasks'],
  ['card', 'Cards read'],
  ['session.opened', 'Signed in'],
  ['session.ended', 'Signed out'],
  ['key.created', 'Keys made'],
  ['key.revoked', 'Keys revoked'],
  ['config.applied', 'Configuration changed'],
  ['card.approved', 'Cards approved'],
  ['admin', 'Other admin requests'],
  ['audit.lost', 'Entries lost'],
]

export const auditOutcomeOptions: readonly (readonly [outcome: string, text: string])[] = [
  ['', 'All outcomes'],
  ['OK', 'OK'],
  ['UNAUTHENTICATED', 'Not known'],
  ['PERMISSION_DENIED', 'Not allowed'],
  ['RATE_LIMITED', 'Too many'],
  ['INVALID_PARAMS', 'Wrongly asked'],
  ['NOT_FOUND', 'Not found'],
  ['CONFLICT', 'Conflict'],
  ['UNAVAILABLE', 'Unavailable'],
  ['AGENT_UNAVAILABLE', 'Agent unavailable'],
  ['INTERNAL', 'Internal error'],
]

/** Their names in the address. */
export const auditFilterNames = [
  'who',
  'agent',
  'event',
  'operation',
  'outcome',
  'key',
  'task',
  'text',
  'time',
  'since',
  'until',
  'reads',
] as const

export function auditFiltersFromQuery(query: URLSearchParams): AuditFilters {
  const param = (name: (typeof auditFilterNames)[number]): string => query.get(name)?.trim() ?? ''
  const since = parseInstant(param('since'))
  const until = parseInstant(param('until'))
  const time = timePresets.find(([span]) => span === param('time'))?.[0] ?? ''
  return {
    who: param('who'),
    agent: param('agent'),
    event: param('event'),
    operation: param('operation'),
    outcome: param('outcome'),
    key: param('key'),
    task: param('task'),
    text: param('text'),
    time: since !== '' || until !== '' ? 'custom' : time,
    since,
    until,
    reads: param('reads') === '1',
  }
}

function parseInstant(text: string): string {
  const at = new Date(text)
  return text === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

export function hasAuditFilters({ reads, ...rest }: AuditFilters): boolean {
  return reads || Object.values(rest).some((value) => value !== '')
}

/** "The last hour" is relative to `now`. */
export function auditListQuery(filters: AuditFilters, now: number): AuditQuery {
  const { time, since, until, reads, ...rest } = filters
  const span = timePresetMs[time]
  const from = span === undefined ? since : new Date(now - span).toISOString()
  const asked: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...rest, since: from, until })) if (value !== '') asked[name] = value
  return { ...asked, reads: reads ? 'yes' : 'no' }
}

/** The time of a cursor of the audit log, which is a UUID version 7. */
export function auditCursorTime(place: string | undefined): number | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(place ?? '')
  return digits === null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}

/** The cursor of a page that starts with this entry. */
export function auditCursorAfter(id: string): string {
  const [note = '', index = '0'] = id.split('.')
  return `${note}.${Number(index) + 1}`
}

/** Puts new entries before the known ones, without duplicates. `undefined` if there may be a gap between them. */
export function mergeNewerEntries(
  known: readonly AuditEntry[],
  newest: readonly AuditEntry[],
): readonly AuditEntry[] | undefined {
  const [first] = known
  if (first === undefined) return undefined
  const at = newest.findIndex(({ id }) => id === first.id)
  return at < 0 ? undefined : [...newest.slice(0, at), ...known]
}
