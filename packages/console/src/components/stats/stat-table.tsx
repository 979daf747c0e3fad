/** Statistics as a table: one row per step, the newest first, with a link to its tasks. */
import { formatCost, formatCount, formatDuration } from '../format.ts'
import { stepLabel, type StatSeries } from './stat-charts.ts'
import './stat-chart-view.css'
import { rangeNames } from './stat-range.ts'

export interface StatTableProps {
  readonly series: StatSeries
  readonly hrefAt: (index: number) => string
}

export function StatTable({ series, hrefAt }: StatTableProps) {
  const time = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms))
  const rows = series.steps.map((step, index) => ({ step, index })).toReversed()
  return (
    <div class="panel stat-table" tabIndex={0} role="region" aria-label={`Statistics of ${rangeNames[series.range]}`}>
      <table class="data">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Requests</th>
            <th scope="col">p50</th>
            <th scope="col">p95</th>
            <th scope="col">Errors</th>
            <th scope="col">Failed tasks</th>
            <th scope="col">Open streams</th>
            <th scope="col">Tokens</th>
            <th scope="col">Cost</th>
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
              <td>{step.cost === undefined ? '–' : formatCost(step.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
