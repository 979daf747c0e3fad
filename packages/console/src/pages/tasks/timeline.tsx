/** The whole task on one line: in which state it was when, where its events are, and which one is selected. */
import { useSignal } from '@preact/signals'
import { useMemo, useRef } from 'preact/hooks'
import type { LogRecord } from '../../api/admin.ts'
import { now } from '../../api/resource.ts'
import { lookOf } from '../../parts/state.tsx'
import { duration, many } from '../../parts/words.ts'
import { stateIn, wordsOf } from './event-words.ts'
import { axisOf, indexOfSeq, nearestTo, segmentsOf, ticksOf, timeOf } from './time-axis.ts'
import './timeline.css'

export interface TimelineProps {
  readonly events: readonly LogRecord[]
  /** It goes on: the axis reaches until now. */
  readonly isRunning: boolean
  readonly seq: number | undefined
  readonly onSelect: (seq: number) => void
}

/** Fewer than there are pixels on most screens. */
const mostTicks = 500
const page = 10

export function Timeline({ events, isRunning, seq, onSelect }: TimelineProps) {
  const strip = useRef<HTMLDivElement>(null)
  const pointed = useSignal<number | undefined>(undefined)
  const untilMs = isRunning ? now.value : undefined
  const axis = useMemo(() => axisOf(events, untilMs), [events, untilMs])
  const segments = useMemo(() => segmentsOf(events, axis), [events, axis])
  const ticks = useMemo(() => ticksOf(events, axis, mostTicks), [events, axis])
  const at = seq === undefined ? -1 : indexOfSeq(events, seq)
  const shown = pointed.value ?? (at < 0 ? undefined : at)
  const first = events[0]
  const last = events.at(-1)

  function indexAt(event: PointerEvent): number {
    const box = strip.current?.getBoundingClientRect()
    if (box === undefined || box.width === 0) return 0
    return nearestTo(events, axis, (event.clientX - box.left) / box.width)
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
    <div class="timeline">
      <div
        ref={strip}
        class="timeline-strip"
        role="slider"
        tabIndex={0}
        aria-label="Events of the task"
        aria-valuemin={first?.seq ?? 0}
        aria-valuemax={last?.seq ?? 0}
        aria-valuenow={events[at]?.seq ?? last?.seq ?? 0}
        aria-valuetext={at < 0 ? 'No event is selected' : sayEvent(events, at)}
        onKeyDown={press}
        onPointerMove={(event) => (pointed.value = indexAt(event))}
        onPointerLeave={() => (pointed.value = undefined)}
        onClick={(event) => choose(indexAt(event as unknown as PointerEvent))}
      >
        <svg width="100%" height="28" aria-hidden="true">
          {segments.map(({ state, from, to, ms }, index) => (
            <Segment key={index} state={state} from={from} to={to} ms={ms} />
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
        {shown === undefined ? sayAll(events, axis.endMs - axis.startMs) : sayEvent(events, shown)}
      </p>
    </div>
  )
}

interface SegmentProps {
  readonly state: string
  readonly from: number
  readonly to: number
  readonly ms: number
}

/** At least a sliver, so that a state of a moment is not lost; its name where there is room for it. */
function Segment({ state, from, to, ms }: SegmentProps) {
  const { tone, word } = lookOf(state)
  const width = Math.max(0.004, to - from)
  const start = Math.min(from, 1 - width)
  return (
    <g>
      <rect class={`timeline-state ${tone}`} x={percent(start)} y="0" width={percent(width)} height="16">
        <title>{`${word}, ${duration(ms)}`}</title>
      </rect>
      {width > 0.14 && (
        <text class={`timeline-word ${tone}`} x={percent(start)} dx="6" y="12">
          {word}
        </text>
      )}
    </g>
  )
}

function sayEvent(events: readonly LogRecord[], index: number): string {
  const event = events[index]
  if (event === undefined) return ''
  const state = stateIn(event)
  const what = state === undefined ? event.type : `${event.type} ${lookOf(state).word}`
  const words = wordsOf(event)
  const since = duration(timeOf(event) - timeOf(events[0]))
  return `${event.seq} of ${events.at(-1)?.seq} · +${since} · ${what}${words === '' ? '' : ` · ${words.slice(0, 80)}`}`
}

function sayAll(events: readonly LogRecord[], ms: number): string {
  return ms === 0 ? many(events.length, 'event') : `${many(events.length, 'event')} in ${duration(ms)}`
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`
}
