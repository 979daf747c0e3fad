/** The last hour as text and table rows: the accessible version of the charts. */
import type { AdminResponse } from '../../../api/admin-client.ts'
import { formatCount, formatDuration, pluralize } from '../../../components/format.ts'

export type MinuteStats = AdminResponse<'getPulse'>['minutes'][number]

export interface ChartLine {
  readonly name: string
  /** Colour name in tokens.css. */
  readonly tone: 'working' | 'failed' | 'waiting' | 'ended'
  readonly values: readonly (number | null)[]
}

export interface Chart {
  readonly id: string
  readonly title: string
  /** The number beside the title, and its unit. */
  readonly now: string
  readonly summary: string
  readonly lines: readonly ChartLine[]
  show(value: number): string
}

export function createCharts(minutes: readonly MinuteStats[]): readonly Chart[] {
  return [requestsChart(minutes), errorsChart(minutes), timesChart(minutes), streamsChart(minutes)]
}

/** In seconds, as uPlot expects. */
export function minuteTimes(minutes: readonly MinuteStats[]): readonly number[] {
  return minutes.map(({ at }) => Date.parse(at) / 1_000)
}

function requestsChart(minutes: readonly MinuteStats[]): Chart {
  const values = minutes.map(({ requests }) => requests)
  const all = sum(values)
  const summary =
    all === 0
      ? 'No agent was called in the last hour.'
      : `${pluralize(all, 'request')} in the last hour, ${peakText(minutes, values, formatCount)}.`
  return {
    id: 'requests',
    title: 'Requests',
    now: `${formatCount(values.at(-1) ?? 0)} this minute`,
    summary,
    lines: [{ name: 'requests', tone: 'working', values }],
    show: formatCount,
  }
}

function errorsChart(minutes: readonly MinuteStats[]): Chart {
  const values = minutes.map(({ errors }) => errors)
  const all = sum(values)
  const share = (100 * all) / Math.max(1, sum(minutes.map(({ requests }) => requests)))
  const part = share < 0.1 ? 'less than 0.1 %' : `${share.toFixed(share < 10 ? 1 : 0)} %`
  return {
    id: 'errors',
    title: 'Errors',
    now: `${formatCount(values.at(-1) ?? 0)} this minute`,
    summary:
      all === 0
        ? 'No error in the last hour.'
        : `${pluralize(all, 'error')} in the last hour, ${part} of the requests, ${peakText(minutes, values, formatCount)}.`,
    // Red means an error; an hour without errors is not red.
    lines: [{ name: 'errors', tone: all === 0 ? 'ended' : 'failed', values }],
    show: formatCount,
  }
}

function timesChart(minutes: readonly MinuteStats[]): Chart {
  const half = minutes.map(({ p50Ms }) => p50Ms ?? null)
  const nearlyAll = minutes.map(({ p99Ms }) => p99Ms ?? null)
  const last = minutes.findLast(({ p50Ms }) => p50Ms !== undefined)
  return {
    id: 'times',
    title: 'Answer times',
    now: last === undefined ? '' : `${formatDuration(last.p50Ms ?? 0)} half, ${formatDuration(last.p99Ms ?? 0)} 99 %`,
    summary:
      last === undefined
        ? 'Nothing was answered in the last hour.'
        : `Half were answered within ${formatDuration(last.p50Ms ?? 0)} and 99 % within ${formatDuration(last.p99Ms ?? 0)} at ${minuteLabel(last.at)}; 99 % ${peakText(minutes, nearlyAll, formatDuration)}.`,
    lines: [
      { name: 'half', tone: 'working', values: half },
      { name: '99 %', tone: 'waiting', values: nearlyAll },
    ],
    show: formatDuration,
  }
}

function streamsChart(minutes: readonly MinuteStats[]): Chart {
  const values = minutes.map(({ streams }) => streams)
  const isQuiet = sum(values) === 0
  return {
    id: 'streams',
    title: 'Open streams',
    now: `${formatCount(values.at(-1) ?? 0)} now`,
    summary: isQuiet
      ? 'No stream was open in the last hour.'
      : `${formatCount(values.at(-1) ?? 0)} open now, ${peakText(minutes, values, formatCount)}.`,
    lines: [{ name: 'streams', tone: 'working', values }],
    show: formatCount,
  }
}

/** For example `at most 80 at 12:04`. */
function peakText(
  minutes: readonly MinuteStats[],
  values: readonly (number | null)[],
  show: (value: number) => string,
): string {
  const highest = Math.max(...values.map((value) => value ?? 0))
  return `at most ${show(highest)} at ${minuteLabel(minutes[values.indexOf(highest)]?.at ?? '')}`
}

/** In local time. */
export function minuteLabel(at: string | number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
