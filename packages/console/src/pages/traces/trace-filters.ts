/** Which traces are shown, as the address says it, and as the hub is asked for them. Pure. */
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

export const statuses: readonly (readonly [status: TraceStatus | '', text: string])[] = [
  ['', 'Any status'],
  ['PENDING', 'Running or waiting'],
  ['SUCCESS', 'Went well'],
  ['ERROR', 'Failed or canceled'],
]

export const times: readonly (readonly [time: string, text: string, ms: number])[] = [
  ['15m', 'Last 15 min', 900_000],
  ['1h', 'Last hour', 3_600_000],
  ['1d', 'Last day', 86_400_000],
  ['7d', 'Last 7 days', 604_800_000],
]

export const durations: readonly (readonly [longer: string, text: string, ms: number])[] = [
  ['100ms', '100 ms and more', 100],
  ['1s', '1 s and more', 1_000],
  ['10s', '10 s and more', 10_000],
  ['1m', '1 min and more', 60_000],
  ['10m', '10 min and more', 600_000],
]

/** By which they stand in the address. */
export const filterNames = ['agent', 'status', 'time', 'longer', 'errors', 'text'] as const

/** What stands in the address may be anything: what is not known is not meant. */
export function filtersIn(query: URLSearchParams): TraceFilters {
  const said = (name: string): string => query.get(name) ?? ''
  return {
    agent: said('agent'),
    status: statuses.find(([status]) => status === said('status'))?.[0] ?? '',
    time: times.find(([time]) => time === said('time'))?.[0] ?? '',
    longer: durations.find(([longer]) => longer === said('longer'))?.[0] ?? '',
    hasErrors: said('errors') === 'yes',
    text: said('text').trim().slice(0, 200),
  }
}

export function isFiltered({ agent, status, time, longer, hasErrors, text }: TraceFilters): boolean {
  return hasErrors || [agent, status, time, longer, text].some((one) => one !== '')
}

/** As the hub is asked. "The last hour" is that before `now`. */
export function askFor({ agent, status, time, longer, hasErrors, text }: TraceFilters, now: number): TraceQuery {
  const spanMs = times.find(([one]) => one === time)?.[2]
  const minDurationMs = durations.find(([one]) => one === longer)?.[2]
  return {
    ...(agent !== '' ? { agent } : {}),
    ...(status !== '' ? { status } : {}),
    ...(spanMs !== undefined ? { since: new Date(now - spanMs).toISOString() } : {}),
    ...(minDurationMs !== undefined ? { minDurationMs } : {}),
    ...(hasErrors ? { minErrors: 1 } : {}),
    ...(text !== '' ? { text } : {}),
  }
}

/** From another address, with the filters of this one. */
export function withFilters(path: string, query: URLSearchParams, also: Readonly<Record<string, string>> = {}): string {
  const kept = new URLSearchParams([...query].filter(([name]) => (filterNames as readonly string[]).includes(name)))
  for (const [name, value] of Object.entries(also)) if (value !== '') kept.set(name, value)
  return kept.size === 0 ? path : `${path}?${kept}`
}
