/** The task on one time axis: its states, its events and the selected one. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { LogRecord } from '../../../api/admin.ts'
import { now } from '../../../api/resource.ts'
import { isTerminalState, taskStateDisplay } from '../../../components/status/task-state.tsx'
import { currentTaskTimes, timesText } from '../../../components/status/task-time.tsx'
import type { TimedTask } from '../../../components/status/task-times.ts'
import { formatDuration, pluralize } from '../../../components/format.ts'
import { eventState, eventSummary } from '../events/event-summary.ts'
import {
  createEventAxis,
  eventIndexAtSeq,
  nearestEventIndex,
  stateSegments,
  eventTicks,
  recordTimeMs,
} from './event-axis.ts'
import type { StateSegment } from './event-axis.ts'
import './timeline.css'

const eventsText = (count: number, times: string) =>
  times === '' ? pluralize(count, 'event') : `${pluralize(count, 'event')} · ${times}`

export interface TimelineProps {
  /** The axis of a running task ends now. */
  readonly task: TimedTask
  readonly events: readonly LogRecord[]
  readonly seq: number | undefined
  readonly onSelect: (seq: number) => void
}

/** Fewer than there are pixels on most screens. */
const mostTicks = 500
const page = 10

export function Timeline({ task, events, seq, onSelect }: TimelineProps) {
  const strip = useRef<HTMLDivElement>(null)
  const pointed = useSignal<number | undefined>(undefined)
  const fromMs = Date.parse(task.createdAt)
  const untilMs = isTerminalState(task.state) ? undefined : now.value
  const axis = useMemo(() => createEventAxis(events, { fromMs, untilMs }), [events, fromMs, untilMs])
  const segments = useMemo(() => stateSegments(events, axis), [events, axis])
  const ticks = useMemo(() => eventTicks(events, axis, mostTicks), [events, axis])
  const at = seq === undefined ? -1 : eventIndexAtSeq(events, seq)
  const shown = pointed.value ?? (at < 0 ? undefined : at)
  const first = events[0]
  const last = events.at(-1)

  function indexAt(event: PointerEvent): number {
    const box = strip.current?.getBoundingClientRect()
    if (box === undefined || box.width === 0) return 0
    return nearestEventIndex(events, axis, (event.clientX - box.left) / box.width)
  }

  function choose(index: number): void {
    const event = events[Math.min(events.length - 1, Math.max(0, index))]
    if (event !== undefined) onSelect(event.seq)
  }

  function press(event: KeyboardEvent): void {
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowUp: at + 1,
      ArrowLeft: at - 1,
      ArrowDown: at - 1,
      PageUp: at + page,
      PageDown: at - page,
      Home: 0,
      End: events.length - 1,
    }
    const to = steps[event.key]
    if (to === undefined) return
    event.preventDefault()
    choose(to)
  }

  return (
    <div class="grow">
      <div
        ref={strip}
        class="timeline-strip"
        role="slider"
        tabIndex={0}
        aria-label="Events of the task"
        aria-valuemin={first?.seq ?? 0}
        aria-valuemax={last?.seq ?? 0}
        aria-valuenow={events[at]?.seq ?? last?.seq ?? 0}
        aria-valuetext={at < 0 ? 'No event selected' : eventText(events, at, fromMs)}
        onKeyDown={press}
        onPointerMove={(event) => (pointed.value = indexAt(event))}
        onPointerLeave={() => (pointed.value = undefined)}
        onClick={(event) => choose(indexAt(event as unknown as PointerEvent))}
      >
        <svg width="100%" height="28" aria-hidden="true">
          {segments.map((segment, index) => (
            <SegmentBar key={index} segment={segment} />
          ))}
          {ticks.map(({ share, isVisible }) => (
            <line
              key={share}
              class={isVisible ? 'timeline-tick' : 'timeline-tick inner'}
              x1={percent(share)}
              x2={percent(share)}
              y1="20"
              y2={isVisible ? '28' : '25'}
            />
          ))}
          {shown !== undefined && (
            <line
              class={pointed.value === undefined ? 'timeline-mark' : 'timeline-mark pointed'}
              x1={percent(axis.shareOf(shown))}
              x2={percent(axis.shareOf(shown))}
              y1="0"
              y2="28"
            />
          )}
        </svg>
      </div>
      <p class="timeline-said faint cut" aria-hidden="true">
        {shown === undefined
          ? eventsText(events.length, timesText(currentTaskTimes(task)))
          : eventText(events, shown, fromMs)}
      </p>
    </div>
  )
}

/** Has a minimum width, so that a short state stays visible; shows its name if there is room. */
function SegmentBar({ segment: { state, from, to, ms } }: { readonly segment: StateSegment }) {
  const { tone, word } = taskStateDisplay(state)
  const width = Math.max(0.004, to - from)
  const start = Math.min(from, 1 - width)
  return (
    <g>
      <rect class={`timeline-state ${tone}`} x={percent(start)} y="0" width={percent(width)} height="16">
        <title>
          {word}, {formatDuration(ms)}
        </title>
      </rect>
      {width > 0.14 && (
        <text class={`timeline-word ${tone}`} x={percent(start)} dx="6" y="12">
          {word}
        </text>
      )}
    </g>
  )
}

function eventText(events: readonly LogRecord[], index: number, fromMs: number): string {
  const event = events[index]
  if (event === undefined) return ''
  const state = eventState(event)
  const what = state === undefined ? event.type : `${event.type} ${taskStateDisplay(state).word}`
  const words = eventSummary(event)
  const since = formatDuration(recordTimeMs(event) - fromMs)
  return `${event.seq} of ${events.at(-1)?.seq ?? event.seq} · +${since} · ${what}${words === '' ? '' : ` · ${words.slice(0, 80)}`}`
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`
}
