/** The filters of the traces: from the address, and as a query to the hub. Pure. */
import type { Operations, Trace } from '../../api/admin.ts'
import { timePresets, timeRange } from '../../components/filters/time-presets.ts'
import { parseOption, parseText, setFilters, urlFilters, type FiltersOf } from '../../components/filters/url-filters.ts'
import { tracesStrings } from './strings.ts'

type TraceQuery = Operations['listTraces']['query']
const { filters: strings } = tracesStrings

export type TraceStatus = Trace['status']

export const traceStatusOptions: readonly (readonly [status: TraceStatus | '', text: string])[] = [
  ['', strings.statuses['']],
  ['PENDING', strings.statuses.PENDING],
  ['SUCCESS', strings.statuses.SUCCESS],
  ['ERROR', strings.statuses.ERROR],
]

/** A trace list has no custom range. */
export const traceTimeOptions = timePresets.filter(([time]) => time !== 'custom')

export const traceDurationOptions: readonly (readonly [longer: string, text: string, ms: number])[] = [
  ['100ms', strings.atLeast('100 ms'), 100],
  ['1s', strings.atLeast('1 s'), 1_000],
  ['10s', strings.atLeast('10 s'), 10_000],
  ['1m', strings.atLeast('1 min'), 60_000],
  ['10m', strings.atLeast('10 min'), 600_000],
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
