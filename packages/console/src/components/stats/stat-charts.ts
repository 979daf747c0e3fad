/** Statistics as charts: lines to draw, and the same as text for those who do not see them. Pure. */
import type { AdminResponse } from '../../api/admin-client.ts'
import { formatCompact, formatCost, formatCount, formatDuration } from '../format.ts'
import { statsStrings as strings } from './strings.ts'

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
  const show = (rate: number): string => strings.perMinute(formatRate(rate))
  const [most, when] = peakOf(series, values)
  return {
    id: 'requests',
    title: strings.requests.title,
    value: formatCount(totals.requests),
    summary:
      totals.requests === 0
        ? strings.requests.none(range)
        : strings.requests.summary(totals.requests, range, show(most), when),
    look: 'bars',
    lines: [{ name: strings.requests.line, tone: 'working', values }],
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
    title: strings.times.title,
    value:
      total === undefined
        ? strings.noValue
        : strings.times.value(formatDuration(totals.p50Ms ?? 0), formatDuration(total)),
    summary: total === undefined ? strings.times.none(range) : strings.times.summary(formatDuration(highest), when),
    look: 'lines',
    lines: [
      { name: strings.times.medianLine, tone: 'working', values: half },
      { name: strings.times.upperLine, tone: 'waiting', values: most },
    ],
    isWhole: false,
    show: formatDuration,
  }
}

function errorsChart({ range, totals, steps }: StatSeries): StatChart {
  const { errors, failed } = totals
  return {
    id: 'errors',
    title: strings.errors.title,
    value: strings.errors.value(errors + failed, formatShare(errorShare(totals))),
    summary: errors + failed === 0 ? strings.errors.none(range) : strings.errors.summary(failed, errors, range),
    look: 'bars',
    lines: [
      { name: strings.errors.failedLine, tone: 'failed', values: steps.map((step) => step.failed) },
      { name: strings.errors.refusedLine, tone: 'waiting', values: steps.map((step) => step.errors) },
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
    title: strings.streams.title,
    value: strings.streams.value(values.at(-1) ?? 0),
    summary: most === 0 ? strings.streams.none(range) : strings.streams.summary(most, when),
    look: 'lines',
    lines: [{ name: strings.streams.line, tone: 'working', values }],
    isWhole: true,
    show: formatCount,
  }
}

function tokensChart({ range, totals, steps }: StatSeries): StatChart {
  const { inputTokens, outputTokens } = totals
  return {
    id: 'tokens',
    title: strings.tokens.title,
    value: strings.tokens.value(formatCompact(inputTokens), formatCompact(outputTokens)),
    summary:
      inputTokens + outputTokens === 0
        ? strings.tokens.none(range)
        : strings.tokens.summary(inputTokens, outputTokens, range),
    look: 'bars',
    lines: [
      { name: strings.tokens.inputLine, tone: 'working', values: steps.map((step) => step.inputTokens) },
      { name: strings.tokens.outputLine, tone: 'ended', values: steps.map((step) => step.outputTokens) },
    ],
    isWhole: true,
    show: formatCompact,
  }
}

function costChart({ range, totals: { cost }, steps }: StatSeries): StatChart {
  return {
    id: 'cost',
    title: strings.cost.title,
    value: cost === undefined ? strings.noValue : formatCost(cost),
    summary: cost === undefined ? strings.cost.none(range) : strings.cost.summary(formatCost(cost), range),
    look: 'bars',
    lines: [{ name: strings.cost.line, tone: 'working', values: steps.map((step) => step.cost ?? 0) }],
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
