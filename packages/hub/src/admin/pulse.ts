/**
 * How the last hour went, minute by minute: requests, errors, how long they took, open streams. In memory and of this process
 * alone: enough to see at a glance whether something is wrong; `/metrics` is for those who want more.
 */
import type { Answered } from '@parley/a2a/server'

export interface Beat {
  /** When the minute began, in milliseconds since the epoch. */
  readonly at: number
  readonly requests: number
  /** Answers that were our fault, or an agent's. */
  readonly errors: number
  /** Of what was asked, the half and all but one of a hundred were answered within so long. */
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** The most that were open at one time. */
  readonly streams: number
}

export interface Pulse {
  onAnswer(answered: Pick<Answered, 'status' | 'durationMs'>): void
  /** The oldest minute first, the one that is not over last. */
  read(): readonly Beat[]
}

interface Minute {
  at: number
  requests: number
  errors: number
  streams: number
  /** How many took how long, by classes that grow by a quarter. */
  readonly times: Uint32Array
}

const minuteMs = 60_000
const minutes = 60
const classes = 64
const growth = 1.25

/** `streams` tells how many are open now. */
export function createPulse(now: () => number, streams: () => number): Pulse {
  const ring: Minute[] = Array.from({ length: minutes }, () => ({
    at: 0,
    requests: 0,
    errors: 0,
    streams: 0,
    times: new Uint32Array(classes),
  }))

  function current(): Minute {
    const at = Math.floor(now() / minuteMs) * minuteMs
    const minute = ring[(at / minuteMs) % minutes] as Minute
    if (minute.at !== at) {
      Object.assign(minute, { at, requests: 0, errors: 0, streams: 0 })
      minute.times.fill(0)
    }
    return minute
  }

  return {
    onAnswer({ status, durationMs }) {
      const minute = current()
      minute.requests += 1
      if (status >= 500) minute.errors += 1
      minute.streams = Math.max(minute.streams, streams())
      const place = classOf(durationMs)
      minute.times[place] = (minute.times[place] ?? 0) + 1
    },
    read() {
      const newest = current()
      newest.streams = Math.max(newest.streams, streams())
      return Array.from({ length: minutes }, (_, index): Beat => {
        const at = newest.at - (minutes - 1 - index) * minuteMs
        const minute = ring[(at / minuteMs) % minutes]
        return minute === undefined || minute.at !== at ? { at, requests: 0, errors: 0, streams: 0 } : beatOf(minute)
      })
    },
  }
}

function beatOf({ at, requests, errors, streams, times }: Minute): Beat {
  if (requests === 0) return { at, requests, errors, streams }
  return { at, requests, errors, streams, p50Ms: within(times, requests * 0.5), p99Ms: within(times, requests * 0.99) }
}

function classOf(durationMs: number): number {
  const place = durationMs <= 1 ? 0 : Math.ceil(Math.log(durationMs) / Math.log(growth))
  return Math.min(classes - 1, place)
}

/** The upper end of the class in which the nth of them is. */
function within(times: Uint32Array, nth: number): number {
  let count = 0
  const place = times.findIndex((many) => (count += many) >= nth)
  return Math.round(growth ** Math.max(0, place) * 10) / 10
}
