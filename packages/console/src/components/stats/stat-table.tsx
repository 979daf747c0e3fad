/** Statistics as a table: one row per step, the newest first, with a link to its tasks. */
import { formatCost, formatCount, formatDuration } from '../format.ts'
import { stepLabel, type StatSeries } from './stat-charts.ts'
import { statsStrings } from './strings.ts'
import './stat-chart-view.css'

const { table: words, times, noValue } = statsStrings

export interface StatTableProps {
  readonly series: StatSeries
  readonly hrefAt: (index: number) => string
}

export function StatTable({ series, hrefAt }: StatTableProps) {
  const time = (ms: number | undefined): string => (ms === undefined ? noValue : formatDuration(ms))
  const rows = series.steps.map((step, index) => ({ step, index })).toReversed()
  return (
    <div class="panel stat-table" tabIndex={0} role="region" aria-label={words.label(series.range)}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">{words.time}</th>
            <th scope="col">{words.requests}</th>
            <th scope="col">{times.medianLine}</th>
            <th scope="col">{times.upperLine}</th>
            <th scope="col">{words.errors}</th>
            <th scope="col">{words.failed}</th>
            <th scope="col">{words.streams}</th>
            <th scope="col">{words.tokens}</th>
            <th scope="col">{words.cost}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ step, index }) => (
            <tr key={step.at}>
              <th scope="row">
                <a href={hrefAt(index)}>{stepLabel(step.at, series.stepMs)}</a>
              </th>
              <td>{formatCount(step.requests)}</td>
              <td>{time(step.p50Ms)}</td>
              <td>{time(step.p95Ms)}</td>
              <td class={step.errors > 0 ? 'mistake' : ''}>{formatCount(step.errors)}</td>
              <td class={step.failed > 0 ? 'mistake' : ''}>{formatCount(step.failed)}</td>
              <td>{formatCount(step.streams)}</td>
              <td>{formatCount(step.inputTokens + step.outputTokens)}</td>
              <td>{step.cost === undefined ? noValue : formatCost(step.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
