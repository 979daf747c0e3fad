/** Where times stand on a line, and which of them are named below it. Pure. */
import type { Stretch } from './span-tree.ts'

export interface Tick {
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

/** Round times since `start` that lie in what is seen, `most` of them at most. */
export function ticksOf(start: number, seen: Stretch, most: number): readonly Tick[] {
  const length = seen.to - seen.from
  if (length <= 0) return [{ share: 0, label: spoken(Math.max(0, seen.from - start), 1) }]
  const step = steps.find((one) => length / one < most) ?? length
  const first = Math.ceil((seen.from - start) / step) * step
  const ticks: Tick[] = []
  for (let at = first; at <= seen.to - start; at += step) {
    ticks.push({ share: (at + start - seen.from) / length, label: spoken(at, step) })
  }
  return ticks
}

/** As exact as the step needs it, and no more. */
function spoken(ms: number, step: number): string {
  if (ms === 0) return '0'
  if (ms < second) return `${ms} ms`
  if (ms < minute) {
    const decimals = step >= second ? 0 : step >= 100 ? 1 : step >= 10 ? 2 : 3
    return `${(ms / second).toFixed(decimals)} s`
  }
  if (ms < hour) return joined(ms, [minute, 'min'], [second, 's'])
  return ms < day ? joined(ms, [hour, 'h'], [minute, 'min']) : joined(ms, [day, 'd'], [hour, 'h'])
}

type Unit = readonly [ms: number, name: string]

function joined(ms: number, [big, bigName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.round((ms % big) / small)
  return `${Math.floor(ms / big)} ${bigName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

export interface Bar {
  /** From 0 to 1. */
  readonly left: number
  readonly width: number
}

/** What is seen of something; nothing if that is outside. */
export function barOf({ from, to }: Stretch, seen: Stretch): Bar | undefined {
  if (to < seen.from || from > seen.to) return undefined
  const length = seen.to - seen.from
  if (length <= 0) return { left: 0, width: 1 }
  const left = Math.max(0, (from - seen.from) / length)
  return { left, width: Math.min(1, (to - seen.from) / length) - left }
}

/** A little more than a span, so that its ends are seen; never less than a millisecond, and not beyond the whole. */
export function around({ from, to }: Stretch, whole: Stretch): Stretch {
  const margin = Math.max(0.5, (to - from) * 0.04)
  return { from: Math.max(whole.from, from - margin), to: Math.min(Math.max(whole.to, to), to + margin) }
}
