/** Plays a task again from any of its events. While it plays it has a place of its own; when it rests, the address has it. */
import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LogRecord } from '../../api/admin.ts'
import { reached, startAt, stopsOf } from './replay-pace.ts'
import { selectedSeq, selectEvent } from './task-places.ts'

export type Speed = '1' | '4' | '16'

export interface Replay {
  /** The event that is shown last; undefined: all of them are shown. */
  readonly seq: number | undefined
  readonly isPlaying: boolean
  readonly speed: Speed
  /** From the event that is selected, or from the first. */
  play(): void
  pause(): void
  /** The next event that shows something. */
  step(): void
  setSpeed(speed: Speed): void
  /** Everything again. */
  end(): void
}

export function useReplay(events: readonly LogRecord[]): Replay {
  const stops = useMemo(() => stopsOf(events), [events])
  const latest = useRef(stops)
  latest.current = stops
  const isPlaying = useSignal(false)
  const speed = useSignal<Speed>('1')
  const playing = useSignal<number | undefined>(undefined)
  const clockMs = useRef(0)
  const selected = selectedSeq()

  useEffect(() => {
    if (!isPlaying.value) return
    let frame = requestAnimationFrame(tick)
    let before = performance.now()
    function tick(now: number): void {
      // This frame may have been asked for before it was paused.
      if (!isPlaying.peek()) return
      clockMs.current += Math.max(0, now - before) * Number(speed.peek())
      before = now
      const index = reached(latest.current, clockMs.current)
      playing.value = latest.current[index]?.seq
      if (index >= latest.current.length - 1) return pause()
      frame = requestAnimationFrame(tick)
    }
    return () => cancelAnimationFrame(frame)
  }, [isPlaying.value])

  // Whoever points at another event while it plays goes on from there.
  useEffect(() => {
    if (isPlaying.peek() && selected !== undefined) wind(selected)
  }, [selected])

  function wind(seq: number): void {
    clockMs.current = latest.current[startAt(latest.current, seq)]?.atMs ?? 0
  }

  function play(): void {
    const last = stops.at(-1)?.seq ?? 0
    const from = selected === undefined || selected >= last ? 0 : selected
    wind(from)
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
