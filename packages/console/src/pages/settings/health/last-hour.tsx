/** The last hour of the hub, minute by minute, as charts or as a table. */
import { query, setQuery } from '../../../app/router.ts'
import { formatCount, formatDuration } from '../../../components/format.ts'
import { createCharts, minuteLabel, minuteTimes, type MinuteStats } from './recent-stats.ts'
import { Sparkline } from './sparkline.tsx'

export function LastHour({ minutes }: { readonly minutes: readonly MinuteStats[] }) {
  const times = minuteTimes(minutes)
  const isTable = query.value.get('table') !== null
  return (
    <section aria-labelledby="health-hour">
      <div class="health-head">
        <h2 id="health-hour">The last hour</h2>
        <p class="faint">calls of agents, minute by minute, in this process</p>
        <button
          type="button"
          class="small"
          aria-pressed={isTable}
          onClick={() => setQuery({ table: isTable ? undefined : '1' })}
        >
          As a table
        </button>
      </div>
      {isTable ? (
        <MinuteTable minutes={minutes} />
      ) : (
        <div class="health-charts">
          {createCharts(minutes).map((chart) => (
            <Sparkline key={chart.id} chart={chart} times={times} />
          ))}
        </div>
      )}
    </section>
  )
}

function MinuteTable({ minutes }: { readonly minutes: readonly MinuteStats[] }) {
  const time = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms))
  return (
    <div class="panel health-table" tabIndex={0} role="region" aria-label="The last hour, minute by minute">
      <table class="data">
        <thead>
          <tr>
            <th scope="col">Minute</th>
            <th scope="col">Requests</th>
            <th scope="col">Errors</th>
            <th scope="col">Half within</th>
            <th scope="col">99 % within</th>
            <th scope="col">Open streams</th>
          </tr>
        </thead>
        <tbody>
          {[...minutes].reverse().map(({ at, requests, errors, p50Ms, p99Ms, streams }) => (
            <tr key={at}>
              <th scope="row">{minuteLabel(at)}</th>
              <td>{formatCount(requests)}</td>
              <td class={errors > 0 ? 'mistake' : ''}>{formatCount(errors)}</td>
              <td>{time(p50Ms)}</td>
              <td>{time(p99Ms)}</td>
              <td>{formatCount(streams)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
