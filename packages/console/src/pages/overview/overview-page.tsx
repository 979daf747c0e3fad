/** The hub over time: requests, response times, errors, streams, tokens and cost; agents with problems and recent failures. */
import { useRef } from 'preact/hooks'
import { callAdmin } from '../../api/admin-client.ts'
import { useAgentsWithLoad, useTaskCounts } from '../../api/agents.ts'
import { isProblem } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { useVisibleInterval } from '../../api/use-visible-interval.ts'
import { query, setQuery } from '../../app/router.ts'
import { areFirstStepsDone } from '../../app/start-page.ts'
import { ConfigRejectionNotice } from '../../components/config-effects/config-rejection-notice.tsx'
import { SelectField } from '../../components/form/form-fields.tsx'
import { PageHead } from '../../components/layout/page-head.tsx'
import { SegmentedControl } from '../../components/layout/tabs.tsx'
import { ErrorNotice } from '../../components/status/error-notice.tsx'
import type { StatSeries } from '../../components/stats/stat-charts.ts'
import { AttentionPanel, FailuresPanel } from './attention.tsx'
import { CurrentNumbers } from './current-numbers.tsx'
import { ranges } from '../../components/stats/stat-range.ts'
import { defaultRange, overviewFilters } from './overview-filters.ts'
import { StatsSection, UnknownAgent } from './stats-section.tsx'
import './overview-page.css'

const reloadMs = 5_000

export function OverviewPage() {
  const { range: wished, agent } = overviewFilters.read(query.value)
  const range = wished === '' ? defaultRange : wished
  const isTable = query.value.get('table') !== null
  const agents = useAgentsWithLoad()
  const counts = useTaskCounts()
  const ofAgent = agent === '' ? {} : { agent }
  const stats = useResource(`stats ${range} ${agent}`, (signal) =>
    callAdmin('getStats', { query: { range, ...ofAgent }, signal }),
  )
  useVisibleInterval(reloadMs, stats.reload)
  // While another range loads, the charts of the previous one stay.
  const latest = useRef<StatSeries>(undefined)
  latest.current = stats.value.value ?? latest.current
  const isUnknown = agent !== '' && isProblem(stats.problem.value, 'NOT_FOUND')
  const statsProblem = isUnknown ? undefined : stats.problem.value
  const problem = statsProblem ?? agents.problem.value ?? counts.problem.value
  const isNew =
    agents.value.value !== undefined &&
    counts.value.value !== undefined &&
    !areFirstStepsDone(agents.value.value, counts.value.value.states)
  const names = agents.value.value?.map(({ name }) => name) ?? []

  return (
    <>
      <PageHead title="Overview">
        <button type="button" aria-pressed={isTable} onClick={() => setQuery({ table: isTable ? undefined : '1' })}>
          Show as table
        </button>
        {isNew && (
          <a class="button" href="/welcome">
            First steps
          </a>
        )}
      </PageHead>
      <div class="scroll stack-wide overview">
        <div class="bar overview-filters" role="search" aria-label="Filters">
          <SegmentedControl
            label="Range"
            value={range}
            options={ranges}
            onChange={(next) => setQuery({ range: next === defaultRange ? undefined : next }, { push: true })}
          />
          <SelectField
            label="Agent"
            value={agent}
            options={[['', 'All agents'] as const, ...names.map((name) => [name, name] as const)]}
            onChange={(next) => setQuery({ agent: next }, { push: true })}
          />
        </div>
        <ConfigRejectionNotice isLinked />
        {problem !== undefined && (
          <ErrorNotice
            reason={problem}
            retry={() => {
              for (const resource of [stats, agents, counts]) resource.reload()
            }}
          />
        )}
        <CurrentNumbers
          agents={agents.value.value}
          counts={counts.value.value}
          failed={stats.value.value?.totals.failed}
          range={range}
          agent={agent}
        />
        <div class="overview-columns">
          {isUnknown ? (
            <UnknownAgent range={range} agent={agent} />
          ) : (
            <StatsSection
              series={latest.current}
              hasFailed={statsProblem !== undefined}
              range={range}
              agent={agent}
              isTable={isTable}
            />
          )}
          <div class="stack-wide overview-side">
            <AttentionPanel agents={agents.value.value} agent={agent} />
            <FailuresPanel range={range} agent={agent} />
          </div>
        </div>
      </div>
    </>
  )
}
