/** When each event of a replay is shown: as long after the one before as it was, only that nobody waits for an hour again. */
import type { LogRecord } from '../../api/admin.ts'
import { timeOf } from './time-axis.ts'

/** At the real pace; longer ones are passed over. */
export const longestWaitMs = 5_000

export interface Stop {
  readonly seq: number
  /** Since the beginning of the replay. */
  readonly atMs: number
}

/** What clients were told and what they said: the rest of the log shows nothing by itself. */
export function stopsOf(events: readonly LogRecord[]): readonly Stop[] {
  const stops: Stop[] = []
  let atMs = 0
  let previous: number | undefined
  for (const event of events) {
    if (!event.isVisible && event.type !== 'message') continue
    const time = timeOf(event)
    atMs += previous === undefined ? 0 : Math.min(longestWaitMs, Math.max(0, time - previous))
    previous = time
    stops.push({ seq: event.seq, atMs })
  }
  return stops
}

/** The index of the last stop that is reached by then; -1 before the first. */
export function reached(stops: readonly Stop[], ms: number): number {
  let low = 0
  let high = stops.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((stops[middle]?.atMs ?? 0) <= ms) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Where a replay from an event begins: at that event, or at the first one behind it that shows something. */
export function startAt(stops: readonly Stop[], seq: number): number {
  const index = stops.findIndex((stop) => stop.seq >= seq)
  return index < 0 ? Math.max(0, stops.length - 1) : index
}
