/** What of the audit is shown, as the address says it, and what that asks of the hub. */
import type { AuditEntry, Operations } from '../../../api/admin.ts'
import { spanMs, timeSpans } from '../../../parts/time-spans.ts'

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
  /** Also what admins only looked at, which a console does all day long. */
  readonly reads: boolean
}

/** As the hub names them. */
export const events: readonly (readonly [event: string, text: string])[] = [
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

export const outcomes: readonly (readonly [outcome: string, text: string])[] = [
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

/** By which they stand in the address. */
export const filterNames = [
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

export function filtersIn(query: URLSearchParams): AuditFilters {
  const said = (name: (typeof filterNames)[number]): string => query.get(name)?.trim() ?? ''
  const since = instantIn(said('since'))
  const until = instantIn(said('until'))
  const time = timeSpans.find(([span]) => span === said('time'))?.[0] ?? ''
  return {
    who: said('who'),
    agent: said('agent'),
    event: said('event'),
    operation: said('operation'),
    outcome: said('outcome'),
    key: said('key'),
    task: said('task'),
    text: said('text'),
    time: since !== '' || until !== '' ? 'custom' : time,
    since,
    until,
    reads: said('reads') === '1',
  }
}

function instantIn(text: string): string {
  const at = new Date(text)
  return text === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

export function isFiltered({ reads, ...rest }: AuditFilters): boolean {
  return reads || Object.values(rest).some((value) => value !== '')
}

/** "The last hour" is counted from when it was asked. */
export function askFor(filters: AuditFilters, now: number): AuditQuery {
  const { time, since, until, reads, ...rest } = filters
  const span = spanMs[time]
  const from = span === undefined ? since : new Date(now - span).toISOString()
  const asked: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...rest, since: from, until })) if (value !== '') asked[name] = value
  return { ...asked, reads: reads ? 'yes' : 'no' }
}

/** How far back one has looked: a place in the audit has its time in it (UUID version 7). */
export function timeOfPlace(place: string | undefined): number | undefined {
  const digits = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(place ?? '')
  return digits === null ? undefined : Number.parseInt(`${digits[1]}${digits[2]}`, 16)
}

/** Asked for in this way, a page begins with the entry. */
export function placeAfter(id: string): string {
  const [note = '', index = '0'] = id.split('.')
  return `${note}.${Number(index) + 1}`
}

/** What is new stands before what was there; nothing stands twice. Nothing if there may be a gap between them. */
export function withNewer(
  known: readonly AuditEntry[],
  newest: readonly AuditEntry[],
): readonly AuditEntry[] | undefined {
  const [first] = known
  if (first === undefined) return undefined
  const at = newest.findIndex(({ id }) => id === first.id)
  return at < 0 ? undefined : [...newest.slice(0, at), ...known]
}
