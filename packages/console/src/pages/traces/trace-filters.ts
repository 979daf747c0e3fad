/** The filters of the traces: from the address, and as a query to the hub. Pure. */
import type { Operations, Trace } from '../../api/admin.ts'
import { timePresets, timeRange } from '../../components/filters/time-presets.ts'
import { parseOption, parseText, setFilters, urlFilters, type FiltersOf } from '../../components/filters/url-filters.ts'

type TraceQuery = Operations['listTraces']['query']

export type TraceStatus = Trace['status']

export const traceStatusOptions: readonly (readonly [status: TraceStatus | '', text: string])[] = [
  ['', 'Any status'],
  ['PENDING', 'Running or waiting'],
  ['SUCCESS', 'Succeeded'],
  ['ERROR', 'Failed or canceled'],
]

/** A trace list has no custom range. */
export const traceTimeOptions = timePresets.filter(([time]) => time !== 'custom')

export const traceDurationOptions: readonly (readonly [longer: string, text: string, ms: number])[] = [
  ['100ms', `100 ms or longer`, 100],
  ['1s', `1 s or longer`, 1_000],
  ['10s', `10 s or longer`, 10_000],
  ['1m', `1 min or longer`, 60_000],
  ['10m', `10 min or longer`, 600_000],
]

export const traceFilters = urlFilters({
  agent: String,
  status: parseOption(traceStatusOptions),
  time: parseOption(traceTimeOptions),
  longer: parseOption(traceDurationOptions),
  errors: (param) => param === 'yes',
  text: parseText,
})
export type TraceFilters = FiltersOf<typeof traceFilters>

/** The query to the hub. "The last hour" is relative to `now`. */
export function traceListQuery({ agent, status, time, longer, errors, text }: TraceFilters, now: number): TraceQuery {
  const minDurationMs = traceDurationOptions.find(([one]) => one === longer)?.[2]
  return {
    ...setFilters({ agent, status, text }),
    ...timeRange({ time }, now),
    ...(minDurationMs !== undefined ? { minDurationMs } : {}),
    ...(errors ? { minErrors: 1 } : {}),
  }
}
