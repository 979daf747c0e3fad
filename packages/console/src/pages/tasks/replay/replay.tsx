/** Replays a task from any of its events. While it plays, it holds its own position; while paused, the address holds it. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LogRecord } from '../../../api/admin.ts'
import { Icon } from '../../../components/icon.tsx'
import { SegmentedControl } from '../../../components/layout/tabs.tsx'
import { formatDuration } from '../../../components/format.ts'
import { eventIndexAtSeq, recordTimeMs } from '../timeline/event-axis.ts'
import { stopIndexAtTime, stopIndexAtSeq, replayStops } from './replay-schedule.ts'
import { selectedSeq, selectEvent } from '../task-links.ts'
import './replay.css'

export type ReplaySpeed = '1' | '4' | '16'

export interface Replay {
  /** The last event shown; `undefined` if all are shown. */
  readonly seq: number | undefined
  readonly isPlaying: boolean
  readonly speed: ReplaySpeed
  /** From the selected event, or from the first. */
  play(): void
  pause(): void
  /** Goes to the next visible event. */
  step(): void
  setSpeed(speed: ReplaySpeed): void
  /** Shows all events again. */
  end(): void
}

export function useReplay(events: readonly LogRecord[]): Replay {
  const stops = useMemo(() => replayStops(events), [events])
  const latest = useRef(stops)
  latest.current = stops
  const isPlaying = useSignal(false)
  const speed = useSignal<ReplaySpeed>('1')
  const playing = useSignal<number | undefined>(undefined)
  const clockMs = useRef(0)
  const selected = selectedSeq()

  useEffect(() => {
    if (!isPlaying.value) return
    let frame = requestAnimationFrame(tick)
    let before = performance.now()
    function tick(now: number): void {
      // This frame may have been requested before the pause.
      if (!isPlaying.peek()) return
      clockMs.current += Math.max(0, now - before) * Number(speed.peek())
      before = now
      const index = stopIndexAtTime(latest.current, clockMs.current)
      playing.value = latest.current[index]?.seq
      if (index >= latest.current.length - 1) return pause()
      frame = requestAnimationFrame(tick)
    }
    return () => cancelAnimationFrame(frame)
  }, [isPlaying.value])

  // If the user selects another event during the replay, it continues from there.
  useEffect(() => {
    if (isPlaying.peek() && selected !== undefined) seekClock(selected)
  }, [selected])

  function seekClock(seq: number): void {
    clockMs.current = latest.current[stopIndexAtSeq(latest.current, seq)]?.atMs ?? 0
  }

  function play(): void {
    const last = stops.at(-1)?.seq ?? 0
    const from = selected === undefined || selected >= last ? 0 : selected
    seekClock(from)
    playing.value = from
    isPlaying.value = true
  }

  function pause(): void {
    isPlaying.value = false
    if (playing.peek() !== undefined) selectEvent(playing.peek())
    playing.value = undefined
  }

  function step(): void {
    const from = playing.peek() ?? selected ?? 0
    isPlaying.value = false
    playing.value = undefined
    selectEvent(stops.find(({ seq }) => seq > from)?.seq ?? from)
  }

  function end(): void {
    isPlaying.value = false
    playing.value = undefined
    selectEvent(undefined)
  }

  return {
    seq: playing.value ?? selected,
    isPlaying: isPlaying.value,
    speed: speed.value,
    play,
    pause,
    step,
    setSpeed: (wanted) => (speed.value = wanted),
    end,
  }
}

const speeds: readonly (readonly [ReplaySpeed, string])[] = [
  ['1', '1×'],
  ['4', '4×'],
  ['16', '16×'],
]

/** Position and speed of a replay, and a button to end it. */
export function ReplayBar({
  replay,
  events,
  startMs,
}: {
  readonly replay: Replay
  readonly events: readonly LogRecord[]
  /** When the task was created. */
  readonly startMs: number
}) {
  const { seq = 0, isPlaying, speed } = replay
  const event = events[eventIndexAtSeq(events, seq)]
  const since = event === undefined ? 0 : recordTimeMs(event) - startMs
  const isLast = seq >= (events.at(-1)?.seq ?? 0)
  return (
    <div class="bar replay-bar" role="group" aria-label="Replay">
      <button type="button" class="small" onClick={isPlaying ? replay.pause : replay.play}>
        <Icon name={isPlaying ? 'stop' : 'play'} size={14} />
        {isPlaying ? 'Pause' : isLast ? 'Replay' : 'Replay from here'}
      </button>
      <button type="button" class="small" disabled={isLast} onClick={replay.step}>
        <Icon name="next" size={14} />
        Step
      </button>
      <SegmentedControl label="Speed" value={speed} options={speeds} onChange={replay.setSpeed} />
      <span class="replay-place soft">
        as of event {seq} of {events.at(-1)?.seq}, +{formatDuration(since)}
      </span>
      <button type="button" class="small plain" onClick={replay.end}>
        Show all
      </button>
    </div>
  )
}
