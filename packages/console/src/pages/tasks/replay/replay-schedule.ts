/** When each event of a replay is shown: at the original intervals, with long pauses shortened. */
import type { LogRecord } from '../../../api/admin.ts'
import { countLeading } from '../../../components/list/count-leading.ts'
import { recordTimeMs } from '../timeline/event-axis.ts'

/** At normal speed; longer pauses are cut to this. */
export const maxReplayWaitMs = 5_000

export interface ReplayStop {
  readonly seq: number
  /** Since the start of the replay. */
  readonly atMs: number
}

/** Events that clients see, and messages: the rest of the log is not visible. */
export function replayStops(events: readonly LogRecord[]): readonly ReplayStop[] {
  const stops: ReplayStop[] = []
  let atMs = 0
  let previous: number | undefined
  for (const event of events) {
    if (!event.isVisible && event.type !== 'message') continue
    const time = recordTimeMs(event)
    atMs += previous === undefined ? 0 : Math.min(maxReplayWaitMs, Math.max(0, time - previous))
    previous = time
    stops.push({ seq: event.seq, atMs })
  }
  return stops
}

/** The index of the last stop reached by then; -1 before the first. */
export function stopIndexAtTime(stops: readonly ReplayStop[], ms: number): number {
  return countLeading(stops.length, (index) => (stops[index]?.atMs ?? 0) <= ms) - 1
}

/** The stop at which a replay from an event starts: that event, or the next visible one. */
export function stopIndexAtSeq(stops: readonly ReplayStop[], seq: number): number {
  const index = stops.findIndex((stop) => stop.seq >= seq)
  return index < 0 ? Math.max(0, stops.length - 1) : index
}
