/** The filters of the traces: from the address, and as a query to the hub. Pure. */
import type { Operations, Trace } from '../../api/admin.ts'

type TraceQuery = Operations['listTraces']['query']
export type TraceStatus = Trace['status']

export interface TraceFilters {
  readonly agent: string
  readonly status: TraceStatus | ''
  readonly time: string
  readonly longer: string
  readonly hasErrors: boolean
  readonly text: string
}

export const traceStatusOptions: readonly (readonly [status: TraceStatus | '', text: string])[] = [
  ['', 'Any status'],
  ['PENDING', 'Running or waiting'],
  ['SUCCESS', 'Went well'],
  ['ERROR', 'Failed or canceled'],
]

export const traceTimeOptions: readonly (readonly [time: string, text: string, ms: number])[] = [
  ['15m', 'Last 15 min', 900_000],
  ['1h', 'Last hour', 3_600_000],
  ['1d', 'Last day', 86_400_000],
  ['7d', 'Last 7 days', 604_800_000],
]

export const traceDurationOptions: readonly (readonly [longer: string, text: string, ms: number])[] = [
  ['100ms', '100 ms and more', 100],
  ['1s', '1 s and more', 1_000],
  ['10s', '10 s and more', 10_000],
  ['1m', '1 min and more', 60_000],
  ['10m', '10 min and more', 600_000],
]

/** Their names in the address. */
export const traceFilterNames = ['agent', 'status', 'time', 'longer', 'errors', 'text'] as const

/** The address may hold any value; unknown ones are ignored. */
export function traceFiltersFromQuery(query: URLSearchParams): TraceFilters {
  const param = (name: string): string => query.get(name) ?? ''
  return {
    agent: param('agent'),
    status: traceStatusOptions.find(([status]) => status === param('status'))?.[0] ?? '',
    time: traceTimeOptions.find(([time]) => time === param('time'))?.[0] ?? '',
    longer: traceDurationOptions.find(([longer]) => longer === param('longer'))?.[0] ?? '',
    hasErrors: param('errors') === 'yes',
    text: param('text').trim().slice(0, 200),
  }
}

export function hasTraceFilters({ agent, status, time, longer, hasErrors, text }: TraceFilters): boolean {
  return hasErrors || [agent, status, time, longer, text].some((one) => one !== '')
}

/** The query to the hub. "The last hour" is relative to `now`. */
export function traceListQuery(
  { agent, status, time, longer, hasErrors, text }: TraceFilters,
  now: number,
): TraceQuery {
  const spanMs = traceTimeOptions.find(([one]) => one === time)?.[2]
  const minDurationMs = traceDurationOptions.find(([one]) => one === longer)?.[2]
  return {
    ...(agent !== '' ? { agent } : {}),
    ...(status !== '' ? { status } : {}),
    ...(spanMs !== undefined ? { since: new Date(now - spanMs).toISOString() } : {}),
    ...(minDurationMs !== undefined ? { minDurationMs } : {}),
    ...(hasErrors ? { minErrors: 1 } : {}),
    ...(text !== '' ? { text } : {}),
  }
}

/** A link to another path with the current filters. */
export function withTraceFilters(
  path: string,
  query: URLSearchParams,
  also: Readonly<Record<string, string>> = {},
): string {
  const kept = new URLSearchParams(
    [...query].filter(([name]) => (traceFilterNames as readonly string[]).includes(name)),
  )
  for (const [name, value] of Object.entries(also)) if (value !== '') kept.set(name, value)
  return kept.size === 0 ? path : `${path}?${kept}`
}
