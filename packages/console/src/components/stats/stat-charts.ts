/** Statistics as charts: lines to draw, and the same as text for those who do not see them. Pure. */
import type { AdminResponse } from '../../api/admin-client.ts'
import { formatCompact, formatCost, formatCount, formatDuration, pluralize } from '../format.ts'
import { rangeNames, peak } from './stat-range.ts'

export type StatSeries = AdminResponse<'getStats'>
export type StatStep = StatSeries['steps'][number]
type StatTotals = StatSeries['totals']

export interface ChartLine {
  readonly name: string
  /** Colour name in tokens.css. */
  readonly tone: 'working' | 'failed' | 'waiting' | 'ended'
  readonly values: readonly (number | null)[]
}

export interface StatChart {
  readonly id: 'requests' | 'times' | 'errors' | 'streams' | 'tokens' | 'cost'
  readonly title: string
  /** The value of the whole range, beside the title. */
  readonly value: string
  readonly summary: string
  /** Amounts are stacked bars, the others lines. */
  readonly look: 'bars' | 'lines'
  readonly lines: readonly ChartLine[]
  /** Whether its axis has whole numbers only. */
  readonly isWhole: boolean
  show(value: number): string
}

export function createCharts(series: StatSeries): readonly StatChart[] {
  return [
    requestsChart(series),
    timesChart(series),
    errorsChart(series),
    streamsChart(series),
    tokensChart(series),
    costChart(series),
  ]
}

/** The share of requests that failed, or whose task did, at most 1. */
export function errorShare({ requests, errors, failed }: Pick<StatTotals, 'requests' | 'errors' | 'failed'>): number {
  return Math.min(1, (errors + failed) / Math.max(1, requests))
}

export function formatShare(share: number): string {
  if (share === 0) return '0 %'
  if (share < 0.001) return '< 0.1 %'
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`
}

/** In local time: as much of the date as the range needs. */
export function stepLabel(at: string | number, stepMs: number): string {
  const start = new Date(at)
  if (stepMs <= 60_000) return clock(start)
  const span = `${clock(start)}–${clock(new Date(start.getTime() + stepMs))}`
  return stepMs < 3_600_000 ? span : `${dayLabel(start)} ${span}`
}

/** For example `12 Nov`. */
export function dayLabel(at: Date): string {
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
}

export function clock(at: Date): string {
  return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** The start and the end of a step, as ISO 8601: the range of its tasks. */
export function stepRange(
  { stepMs }: StatSeries,
  { at }: StatStep,
): { readonly since: string; readonly until: string } {
  return { since: at, until: new Date(Date.parse(at) + stepMs).toISOString() }
}

function requestsChart(series: StatSeries): StatChart {
  const { range, totals, steps } = series
  const values = steps.map((step) => step.requests / stepMinutes(series, step))
  const show = (rate: number): string => `${formatRate(rate)} / min`
  const [most, when] = peakOf(series, values)
  return {
    id: 'requests',
    title: 'Requests',
    value: formatCount(totals.requests),
    summary:
      totals.requests === 0
        ? `No requests in ${rangeNames[range]}.`
        : `${pluralize(totals.requests, 'request')} in ${rangeNames[range]}, ${peak(show(most), when)}.`,
    look: 'bars',
    lines: [{ name: 'requests', tone: 'working', values }],
    isWhole: false,
    show,
  }
}

function timesChart(series: StatSeries): StatChart {
  const { range, totals, steps } = series
  const half = steps.map(({ p50Ms }) => p50Ms ?? null)
  const most = steps.map(({ p95Ms }) => p95Ms ?? null)
  const total = totals.p95Ms
  const [highest, when] = peakOf(series, most)
  return {
    id: 'times',
    title: 'Response time',
    value: total === undefined ? '–' : `p50 ${formatDuration(totals.p50Ms ?? 0)} · p95 ${formatDuration(total)}`,
    summary:
      total === undefined
        ? `No messages in ${rangeNames[range]}.`
        : `Time to the response, or to the first event of a stream. p95 ${peak(formatDuration(highest), when)}.`,
    look: 'lines',
    lines: [
      { name: 'p50', tone: 'working', values: half },
      { name: 'p95', tone: 'waiting', values: most },
    ],
    isWhole: false,
    show: formatDuration,
  }
}

function errorsChart({ range, totals, steps }: StatSeries): StatChart {
  const { errors, failed } = totals
  return {
    id: 'errors',
    title: 'Errors',
    value: `${formatCount(errors + failed)} · ${formatShare(errorShare(totals))}`,
    summary:
      errors + failed === 0
        ? `No errors in ${rangeNames[range]}.`
        : `${pluralize(failed, 'failed task')} and ${pluralize(errors, 'failed request')} in ${rangeNames[range]}.`,
    look: 'bars',
    lines: [
      { name: 'failed tasks', tone: 'failed', values: steps.map((step) => step.failed) },
      { name: 'failed requests', tone: 'waiting', values: steps.map((step) => step.errors) },
    ],
    isWhole: true,
    show: formatCount,
  }
}

function streamsChart(series: StatSeries): StatChart {
  const { range, steps } = series
  const values = steps.map(({ streams }) => streams)
  const [most, when] = peakOf(series, values)
  return {
    id: 'streams',
    title: 'Open streams',
    value: `${formatCount(values.at(-1) ?? 0)} now`,
    summary:
      most === 0 ? `No open streams in ${rangeNames[range]}.` : `${peak(formatCount(most), when).replace(/^a/, 'A')}.`,
    look: 'lines',
    lines: [{ name: 'open streams', tone: 'working', values }],
    isWhole: true,
    show: formatCount,
  }
}

function tokensChart({ range, totals, steps }: StatSeries): StatChart {
  const { inputTokens, outputTokens } = totals
  return {
    id: 'tokens',
    title: 'Tokens',
    value: `${formatCompact(inputTokens)} in · ${formatCompact(outputTokens)} out`,
    summary:
      inputTokens + outputTokens === 0
        ? `No tokens reported in ${rangeNames[range]}.`
        : `${formatCount(inputTokens)} input and ${formatCount(outputTokens)} output tokens in ${rangeNames[range]}.`,
    look: 'bars',
    lines: [
      { name: 'input', tone: 'working', values: steps.map((step) => step.inputTokens) },
      { name: 'output', tone: 'ended', values: steps.map((step) => step.outputTokens) },
    ],
    isWhole: true,
    show: formatCompact,
  }
}

function costChart({ range, totals: { cost }, steps }: StatSeries): StatChart {
  return {
    id: 'cost',
    title: 'Cost',
    value: cost === undefined ? '–' : formatCost(cost),
    summary:
      cost === undefined
        ? `No cost known in ${rangeNames[range]}.`
        : `${formatCost(cost)} in ${rangeNames[range]}, by the configured prices.`,
    look: 'bars',
    lines: [{ name: 'cost', tone: 'working', values: steps.map((step) => step.cost ?? 0) }],
    isWhole: false,
    show: formatCost,
  }
}

/** The length of a step; the last one is not over. At least half a minute, so that a first request is no rate of thousands. */
function stepMinutes({ stepMs, until }: StatSeries, { at }: StatStep): number {
  const length = Math.min(stepMs, Date.parse(until) - Date.parse(at))
  return stepMs <= 60_000 ? 1 : Math.max(30_000, length) / 60_000
}

function formatRate(rate: number): string {
  return rate === 0 || rate >= 100 ? formatCount(Math.round(rate)) : String(Number(rate.toPrecision(2)))
}

function peakOf(
  { steps, stepMs }: StatSeries,
  values: readonly (number | null)[],
): readonly [most: number, at: string] {
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  return [most, stepLabel(steps[values.indexOf(most)]?.at ?? 0, stepMs)]
}
