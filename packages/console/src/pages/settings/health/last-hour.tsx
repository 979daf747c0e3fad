/** The last hour of the hub, minute by minute, as charts or as a table. */
import { query, setQuery } from '../../../app/router.ts'
import { StatChartView } from '../../../components/stats/stat-chart-view.tsx'
import { createCharts, stepRange, stepTimes, type StatSeries } from '../../../components/stats/stat-charts.ts'
import { StatTable } from '../../../components/stats/stat-table.tsx'
import { statsStrings } from '../../../components/stats/strings.ts'
import { healthStrings } from './strings.ts'

const strings = healthStrings.lastHour
const upper = 'p99'
const shownCharts: ReadonlySet<string> = new Set(['requests', 'times', 'errors', 'streams'])

export function LastHour({ series }: { readonly series: StatSeries }) {
  const times = stepTimes(series)
  const isTable = query.value.get('table') !== null
  const hrefAt = (index: number): string => {
    const step = series.steps[index]
    return `/tasks?${new URLSearchParams(step === undefined ? {} : { ...stepRange(series, step) })}`
  }
  return (
    <section aria-labelledby="health-hour">
      <div class="health-head">
        <h2 id="health-hour">{strings.title}</h2>
        <p class="faint">{strings.hint}</p>
        <a class="button small" href="/overview?range=24h">
          {strings.overview}
        </a>
        <button
          type="button"
          class="small"
          aria-pressed={isTable}
          onClick={() => setQuery({ table: isTable ? undefined : '1' })}
        >
          {statsStrings.table.show}
        </button>
      </div>
      {isTable ? (
        <StatTable series={series} upper={upper} hrefAt={hrefAt} />
      ) : (
        <div class="stat-charts">
          {createCharts(series, upper)
            .filter(({ id }) => shownCharts.has(id))
            .map((chart) => (
              <StatChartView key={chart.id} chart={chart} times={times} stepMs={series.stepMs} hrefAt={hrefAt} />
            ))}
        </div>
      )}
    </section>
  )
}
