/** The time axis shared by all views of a task: the position of each event and state, from 0 to 1. */
import type { LogRecord } from '../../../api/admin.ts'
import { countLeading } from '../../../components/list/count-leading.ts'
import { isWaitingState } from '../../../components/status/task-states.ts'
import { eventState } from '../events/event-summary.ts'

export interface EventAxis {
  readonly startMs: number
  readonly endMs: number
  /** Position of the event at this index. */
  shareOf(index: number): number
}

export interface StateSegment {
  readonly state: string
  readonly from: number
  readonly to: number
  readonly ms: number
}

export interface AxisRange {
  /** When the task was created: its first record can be later. */
  readonly fromMs?: number | undefined
  /** Now, while the task runs. */
  readonly untilMs?: number | undefined
}

/** From the creation of the task to its end. Events without any duration are spread evenly, so that each can be selected. */
export function createEventAxis(events: readonly LogRecord[], { fromMs, untilMs }: AxisRange = {}): EventAxis {
  const firstMs = recordTimeMs(events[0])
  const startMs = Math.min(firstMs, fromMs ?? firstMs)
  const endMs = Math.max(startMs, recordTimeMs(events.at(-1)), untilMs ?? 0)
  const span = endMs - startMs
  const last = Math.max(1, events.length - 1)
  return {
    startMs,
    endMs,
    shareOf: (index) => (span > 0 ? (recordTimeMs(events[index]) - startMs) / span : Math.min(1, index / last)),
  }
}

export function recordTimeMs(record: LogRecord | undefined): number {
  return record === undefined ? 0 : Date.parse(record.at)
}

/** The states of the task, each with start and end. */
export function stateSegments(events: readonly LogRecord[], axis: EventAxis): readonly StateSegment[] {
  const changes: { state: string; at: number; ms: number }[] = []
  for (const [index, record] of events.entries()) {
    const state = eventState(record) ?? stateAfterAnswer(record, changes.at(-1)?.state)
    if (state === undefined || state === changes.at(-1)?.state) continue
    changes.push({ state, at: axis.shareOf(index), ms: recordTimeMs(record) })
  }
  return changes.map(({ state, at, ms }, index) => ({
    state,
    from: index === 0 ? 0 : at,
    to: changes[index + 1]?.at ?? 1,
    ms: (changes[index + 1]?.ms ?? axis.endMs) - (index === 0 ? axis.startMs : ms),
  }))
}

/** A wait ends when the answer arrives, not when the agent reports its next state. */
function stateAfterAnswer({ type }: LogRecord, before: string | undefined): string | undefined {
  return type === 'message' && before !== undefined && isWaitingState(before) ? 'TASK_STATE_WORKING' : undefined
}

export interface EventTick {
  readonly share: number
  readonly count: number
  readonly isVisible: boolean
}

/** The ticks of the events, at most `most`: events at the same position share one. */
export function eventTicks(events: readonly LogRecord[], axis: EventAxis, most: number): readonly EventTick[] {
  const ticks = new Map<number, EventTick>()
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

/** The index of the event nearest to a position. Of several at the same time, the last, because it has their final state. */
export function nearestEventIndex(events: readonly LogRecord[], axis: EventAxis, share: number): number {
  const after = countLeading(events.length, (index) => axis.shareOf(index) <= share)
  if (after === 0 || after === events.length) return Math.max(0, after - 1)
  return share - axis.shareOf(after - 1) <= axis.shareOf(after) - share ? after - 1 : after
}

/** The index of the last event up to a seq; -1 if there is none. */
export function eventIndexAtSeq(events: readonly LogRecord[], seq: number): number {
  return countLeading(events.length, (index) => (events[index]?.seq ?? 0) <= seq) - 1
}
