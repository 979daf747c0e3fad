/** One axis of time for all views of a task: where each event and each state stands on it, from 0 to 1. */
import type { LogRecord } from '../../api/admin.ts'
import { stateIn } from './event-words.ts'

export interface TimeAxis {
  readonly startMs: number
  readonly endMs: number
  /** Of the event at this index. */
  shareOf(index: number): number
}

export interface Segment {
  readonly state: string
  readonly from: number
  readonly to: number
  readonly ms: number
}

/** A task that runs reaches until now. What took no time at all is spread evenly, so that it can still be pointed at. */
export function axisOf(events: readonly LogRecord[], untilMs?: number): TimeAxis {
  const startMs = timeOf(events[0])
  const endMs = Math.max(startMs, timeOf(events.at(-1)), untilMs ?? 0)
  const span = endMs - startMs
  const last = Math.max(1, events.length - 1)
  return {
    startMs,
    endMs,
    shareOf: (index) => (span > 0 ? (timeOf(events[index]) - startMs) / span : Math.min(1, index / last)),
  }
}

export function timeOf(record: LogRecord | undefined): number {
  return record === undefined ? 0 : Date.parse(record.at)
}

/** In which state it was, from when until when. */
export function segmentsOf(events: readonly LogRecord[], axis: TimeAxis): readonly Segment[] {
  const changes: { state: string; at: number; ms: number }[] = []
  for (const [index, record] of events.entries()) {
    const state = stateIn(record)
    if (state === undefined || state === changes.at(-1)?.state) continue
    changes.push({ state, at: axis.shareOf(index), ms: timeOf(record) })
  }
  return changes.map(({ state, at, ms }, index) => ({
    state,
    from: index === 0 ? 0 : at,
    to: changes[index + 1]?.at ?? 1,
    ms: (changes[index + 1]?.ms ?? axis.endMs) - ms,
  }))
}

export interface Tick {
  readonly share: number
  readonly count: number
  readonly isVisible: boolean
}

/** Where events are: at most so many, each for all that would be drawn at the same place. */
export function ticksOf(events: readonly LogRecord[], axis: TimeAxis, most: number): readonly Tick[] {
  const ticks = new Map<number, Tick>()
  for (const [index, { isVisible }] of events.entries()) {
    const place = Math.round(axis.shareOf(index) * most)
    const known = ticks.get(place)
    ticks.set(place, {
      share: place / most,
      count: (known?.count ?? 0) + 1,
      isVisible: isVisible || known?.isVisible === true,
    })
  }
  return [...ticks.values()]
}

/** The index of the event that is nearest to a place. Of several at the same time, the last: it is what they came to. */
export function nearestTo(events: readonly LogRecord[], axis: TimeAxis, share: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (axis.shareOf(middle) <= share) low = middle + 1
    else high = middle
  }
  const before = low - 1
  if (before < 0) return 0
  if (low >= events.length) return events.length - 1
  return share - axis.shareOf(before) <= axis.shareOf(low) - share ? before : low
}

/** The index of the last event up to a seq; -1 if there is none. */
export function indexOfSeq(events: readonly LogRecord[], seq: number): number {
  let low = 0
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((events[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}
