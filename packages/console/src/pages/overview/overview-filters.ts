/** The filters of the overview, as given in the address. */
import type { StatSeries, StatStep } from '../../components/stats/stat-charts.ts'
import { stepRange } from '../../components/stats/stat-charts.ts'
import { parseOption, setFilters, urlFilters } from '../../components/filters/url-filters.ts'
import { ranges, type StatRange } from '../../components/stats/stat-range.ts'

export const overviewFilters = urlFilters({ range: parseOption(ranges), agent: String })

export const defaultRange: StatRange = '1h'

const rangeMs: Readonly<Record<StatRange, number>> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
}

/** The start of a range, to the minute: a link that changes every second would be drawn every second. */
export function rangeStart(range: StatRange, now: number): string {
  return new Date(Math.floor((now - rangeMs[range]) / 60_000) * 60_000).toISOString()
}

/** The tasks of one step of a chart: of errors, the failed ones. */
export function stepHref(series: StatSeries, step: StatStep | undefined, chart: string): string {
  return tasksHref({
    agent: series.agent ?? '',
    state: chart === 'errors' ? 'TASK_STATE_FAILED' : '',
    ...(step === undefined ? {} : stepRange(series, step)),
  })
}

export function tasksHref(filters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(setFilters(filters) as Record<string, string>)
  return query.size === 0 ? '/tasks' : `/tasks?${query}`
}

/** The next longer range. */
export function longerRange(range: StatRange): StatRange | undefined {
  return ranges[ranges.findIndex(([one]) => one === range) + 1]?.[0]
}
