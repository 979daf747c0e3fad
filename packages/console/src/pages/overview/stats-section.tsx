/** The charts of the overview, the same as a table, their placeholders, or what to do while there are no values. */
import { useSignal } from '@preact/signals'
import { EmptyState } from '../../components/status/error-notice.tsx'
import { StatChartSkeleton, StatChartView } from '../../components/stats/stat-chart-view.tsx'
import { createCharts, type StatSeries } from '../../components/stats/stat-charts.ts'
import { StatTable } from '../../components/stats/stat-table.tsx'
import type { StatRange } from '../../components/stats/stat-range.ts'
import { longerRange, stepHref } from './overview-filters.ts'
import { rangeNames } from '../../components/stats/stat-range.ts'

const chartTitles = ['Requests', 'Response time', 'Errors', 'Open streams', 'Tokens', 'Cost']

export interface StatsSectionProps {
  /** `undefined` while it loads. */
  readonly series: StatSeries | undefined
  readonly hasFailed: boolean
  readonly range: StatRange
  readonly agent: string
  readonly isTable: boolean
}

export function StatsSection({ series, hasFailed, range, agent, isTable }: StatsSectionProps) {
  const pointed = useSignal<number | undefined>(undefined)
  if (series === undefined) return hasFailed ? <div /> : <ChartSkeletons />
  const { totals } = series
  const isStale = series.range !== range || (series.agent ?? '') !== agent
  const hasValues = totals.requests + totals.streams + totals.inputTokens > 0
  if (!hasValues) return isStale ? <ChartSkeletons /> : <NoRequests range={range} agent={agent} />
  const stepTasks = (chart: string) => (index: number) => stepHref(series, series.steps[index], chart)
  if (isTable) return <StatTable series={series} hrefAt={stepTasks('')} />
  return (
    <section class={isStale ? 'overview-stale' : undefined} aria-label="Statistics" aria-busy={isStale}>
      <div class="stat-charts">
        {createCharts(series).map((chart) => (
          <StatChartView key={chart.id} chart={chart} series={series} pointed={pointed} hrefAt={stepTasks(chart.id)} />
        ))}
      </div>
      <p class="overview-hint faint">Select a point to open the tasks of that moment.</p>
    </section>
  )
}

function ChartSkeletons() {
  return (
    <section aria-label="Statistics" aria-busy="true">
      <div class="stat-charts">
        {chartTitles.map((title) => (
          <StatChartSkeleton key={title} title={title} />
        ))}
      </div>
    </section>
  )
}

const overviewHref = (changes: Readonly<Record<string, string>>): string => `/overview?${new URLSearchParams(changes)}`

/** The address names an agent that the hub does not have. */
export function UnknownAgent({ range, agent }: { readonly range: StatRange; readonly agent: string }) {
  return (
    <section class="panel overview-empty" aria-label="Statistics">
      <EmptyState title={`There is no agent ${agent}`}>
        <a class="button" href={overviewHref({ range })}>
          Show all agents
        </a>
      </EmptyState>
    </section>
  )
}

function NoRequests({ range, agent }: { readonly range: StatRange; readonly agent: string }) {
  const longer = longerRange(range)
  return (
    <section class="panel overview-empty" aria-label="Statistics">
      <EmptyState
        title={agent === '' ? `No requests in ${rangeNames[range]}` : `No requests to ${agent} in ${rangeNames[range]}`}
      >
        <p>Charts appear with the first request. They are kept for 30 days.</p>
        <p class="row overview-empty-actions">
          <a class="button primary" href={agent === '' ? '/playground' : `/playground/${encodeURIComponent(agent)}`}>
            Open playground
          </a>
          {longer !== undefined && (
            <a class="button" href={overviewHref({ range: longer, ...(agent === '' ? {} : { agent }) })}>
              Show {rangeNames[longer]}
            </a>
          )}
          {agent !== '' && (
            <a class="button" href={overviewHref({ range })}>
              Show all agents
            </a>
          )}
        </p>
      </EmptyState>
    </section>
  )
}
