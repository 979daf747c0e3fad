/** Positions and labels on a time axis. Pure. */
import type { SpanTimeRange } from './span-tree.ts'

export interface AxisTick {
  /** From 0 at the left to 1 at the right. */
  readonly share: number
  readonly label: string
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const steps: readonly number[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * day),
]

/** Round times since `start` within the visible range, at most `most`. */
export function axisTicks(start: number, seen: SpanTimeRange, most: number): readonly AxisTick[] {
  const length = seen.to - seen.from
  if (length <= 0) return [{ share: 0, label: formatTick(Math.max(0, seen.from - start), 1) }]
  const step = steps.find((one) => length / one < most) ?? length
  const first = Math.ceil((seen.from - start) / step) * step
  const ticks: AxisTick[] = []
  for (let at = first; at <= seen.to - start; at += step) {
    ticks.push({ share: (at + start - seen.from) / length, label: formatTick(at, step) })
  }
  return ticks
}

/** Formats with the precision that the step needs. */
function formatTick(ms: number, step: number): string {
  if (ms === 0) return '0'
  if (ms < second) return `${ms} ms`
  if (ms < minute) {
    const decimals = step >= second ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3
    return `${(ms / second).toFixed(decimals)} s`
  }
  if (ms < hour) return formatTwoUnits(ms, [minute, 'min'], [second, 's'])
  return ms < day ? formatTwoUnits(ms, [hour, 'h'], [minute, 'min']) : formatTwoUnits(ms, [day, 'd'], [hour, 'h'])
}

type Unit = readonly [ms: number, name: string]

function formatTwoUnits(ms: number, [big, bigName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.round((ms % big) / small)
  return `${Math.floor(ms / big)} ${bigName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

export interface Bar {
  /** From 0 to 1. */
  readonly left: number
  readonly width: number
}

/** The visible part of a range; `undefined` if it is outside. */
export function barOf({ from, to }: SpanTimeRange, seen: SpanTimeRange): Bar | undefined {
  if (to < seen.from || from > seen.to) return undefined
  const length = seen.to - seen.from
  if (length <= 0) return { left: 0, width: 1 }
  const left = Math.max(0, (from - seen.from) / length)
  return { left, width: Math.min(1, (to - seen.from) / length) - left }
}

/** Slightly more than the span, so that its ends are visible; at least a millisecond, and not beyond the whole. */
export function zoomRange({ from, to }: SpanTimeRange, whole: SpanTimeRange): SpanTimeRange {
  const margin = Math.max(0.5, (to - from) * 0.04)
  return { from: Math.max(whole.from, from - margin), to: Math.min(Math.max(whole.to, to), to + margin) }
}
