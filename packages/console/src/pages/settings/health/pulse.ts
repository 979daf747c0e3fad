/** The last hour in words and in rows: what a chart shows, for those who do not see it. */
import type { AnswerOf } from '../../../api/call.ts'
import { count, duration, many } from '../../../parts/words.ts'

export type Minute = AnswerOf<'getPulse'>['minutes'][number]

export interface Line {
  readonly name: string
  /** As tokens.css has it. */
  readonly tone: 'working' | 'failed' | 'waiting' | 'ended'
  readonly values: readonly (number | null)[]
}

export interface Chart {
  readonly id: string
  readonly title: string
  /** The number that stands beside the title, and what it is of. */
  readonly now: string
  readonly summary: string
  readonly lines: readonly Line[]
  show(value: number): string
}

export function chartsOf(minutes: readonly Minute[]): readonly Chart[] {
  return [requestsChart(minutes), errorsChart(minutes), timesChart(minutes), streamsChart(minutes)]
}

/** In seconds, as charts count. */
export function timesOf(minutes: readonly Minute[]): readonly number[] {
  return minutes.map(({ at }) => Date.parse(at) / 1_000)
}

function requestsChart(minutes: readonly Minute[]): Chart {
  const values = minutes.map(({ requests }) => requests)
  const all = sum(values)
  const summary =
    all === 0
      ? 'No agent was called in the last hour.'
      : `${many(all, 'request')} in the last hour, ${most(minutes, values, count)}.`
  return {
    id: 'requests',
    title: 'Requests',
    now: `${count(values.at(-1) ?? 0)} this minute`,
    summary,
    lines: [{ name: 'requests', tone: 'working', values }],
    show: count,
  }
}

function errorsChart(minutes: readonly Minute[]): Chart {
  const values = minutes.map(({ errors }) => errors)
  const all = sum(values)
  const share = (100 * all) / Math.max(1, sum(minutes.map(({ requests }) => requests)))
  const part = share < 0.1 ? 'less than 0.1 %' : `${share.toFixed(share < 10 ? 1 : 0)} %`
  return {
    id: 'errors',
    title: 'Errors',
    now: `${count(values.at(-1) ?? 0)} this minute`,
    summary:
      all === 0
        ? 'No error in the last hour.'
        : `${many(all, 'error')} in the last hour, ${part} of the requests, ${most(minutes, values, count)}.`,
    // Red is for what is wrong: an hour without any is not.
    lines: [{ name: 'errors', tone: all === 0 ? 'ended' : 'failed', values }],
    show: count,
  }
}

function timesChart(minutes: readonly Minute[]): Chart {
  const half = minutes.map(({ p50Ms }) => p50Ms ?? null)
  const nearlyAll = minutes.map(({ p99Ms }) => p99Ms ?? null)
  const last = minutes.findLast(({ p50Ms }) => p50Ms !== undefined)
  return {
    id: 'times',
    title: 'Answer times',
    now: last === undefined ? '' : `${duration(last.p50Ms ?? 0)} half, ${duration(last.p99Ms ?? 0)} 99 %`,
    summary:
      last === undefined
        ? 'Nothing was answered in the last hour.'
        : `Half were answered within ${duration(last.p50Ms ?? 0)} and 99 % within ${duration(last.p99Ms ?? 0)} at ${clock(last.at)}; 99 % ${most(minutes, nearlyAll, duration)}.`,
    lines: [
      { name: 'half', tone: 'working', values: half },
      { name: '99 %', tone: 'waiting', values: nearlyAll },
    ],
    show: duration,
  }
}

function streamsChart(minutes: readonly Minute[]): Chart {
  const values = minutes.map(({ streams }) => streams)
  const isQuiet = sum(values) === 0
  return {
    id: 'streams',
    title: 'Open streams',
    now: `${count(values.at(-1) ?? 0)} now`,
    summary: isQuiet
      ? 'No stream was open in the last hour.'
      : `${count(values.at(-1) ?? 0)} open now, ${most(minutes, values, count)}.`,
    lines: [{ name: 'streams', tone: 'working', values }],
    show: count,
  }
}

/** `at most 80 at 12:04`. */
function most(minutes: readonly Minute[], values: readonly (number | null)[], show: (value: number) => string): string {
  const highest = Math.max(...values.map((value) => value ?? 0))
  return `at most ${show(highest)} at ${clock(minutes[values.indexOf(highest)]?.at ?? '')}`
}

/** As the clock on the wall has it. */
export function clock(at: string | number): string {
  return new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}
