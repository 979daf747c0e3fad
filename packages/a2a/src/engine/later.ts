/**
 * Many waits of one length, nearly all of them called off: one timer for all instead of one each. A timer of its own
 * for every message that is answered at once cost 9 µs of the 100 that its answer took, and a stream sets one for each
 * thing it says.
 */
export interface Wait {
  /** Calls it off. Nothing happens if its time has come, or if it was called off before. */
  cancel(): void
}

/** Calls `run` after so long. Like a timer, it keeps the process alive until then, or until it is called off. */
export function later(delayMs: number, run: () => void): Wait {
  let line = lines.get(delayMs)
  if (line === undefined) lines.set(delayMs, (line = new Line(delayMs)))
  return line.add(run)
}

/** The same for a length of its own. */
export function onceAfter(delayMs: number, run: () => void): Wait {
  const until = performance.now() + delayMs
  const look = (): void => {
    if (performance.now() + earlyMs >= until) return run()
    wake()
  }
  const wake = (): void => {
    timer = setTimeout(look, Math.min(Math.max(1, Math.ceil(until - performance.now())), maxTimerMs))
  }
  let timer: Timer | undefined
  wake()
  return { cancel: () => clearTimeout(timer) }
}

/** By length; the lengths are settings, so there are a handful. */
const lines = new Map<number, Line>()

/** Longer ones a timer takes for none at all; after this long it looks again. */
export const maxTimerMs = 2 ** 31 - 1
/** Timers count in whole milliseconds of a clock that is read once a turn, and may be early by one. */
const earlyMs = 1

class Place implements Wait {
  readonly until: number
  run: (() => void) | undefined
  readonly #line: Line

  constructor(line: Line, until: number, run: () => void) {
    this.#line = line
    this.until = until
    this.run = run
  }

  cancel(): void {
    if (this.run === undefined) return
    this.run = undefined
    this.#line.left()
  }
}

/** All wait as long, so who came first is due first. */
class Line {
  readonly #delayMs: number
  #places: Place[] = []
  /** Where the line begins: taking each that is due off the front would move thousands of others. */
  #first = 0
  #waiting = 0
  /** When the line is this long, those who left are taken out of it. */
  #tidyAt = 64
  #timer: Timer | undefined

  constructor(delayMs: number) {
    this.#delayMs = delayMs
  }

  add(run: () => void): Wait {
    const place = new Place(this, performance.now() + this.#delayMs, run)
    if (this.#places.length >= this.#tidyAt) this.#tidy()
    this.#places.push(place)
    this.#waiting += 1
    if (this.#timer === undefined) this.#wakeFor(place)
    else if (this.#waiting === 1) this.#timer.ref?.()
    return place
  }

  left(): void {
    this.#waiting -= 1
    // The timer stays for whoever comes next, which is cheaper than another one, but keeps nobody waiting.
    if (this.#waiting === 0) this.#timer?.unref?.()
  }

  #wakeFor({ until }: Place): void {
    const inMs = Math.max(1, Math.ceil(until - performance.now()))
    this.#timer = setTimeout(() => this.#wake(), Math.min(inMs, maxTimerMs))
  }

  #wake(): void {
    this.#timer = undefined
    const now = performance.now() + earlyMs
    const due = this.#takeDue(now)
    if (this.#first > 64 && this.#first * 2 > this.#places.length) this.#tidy()
    // Before anybody is called, who may add another.
    const next = this.#places[this.#first]
    if (next !== undefined) this.#wakeFor(next)
    for (const place of due) {
      const { run } = place
      place.cancel()
      try {
        run?.()
      } catch (reason) {
        // As loud as out of a timer of its own, and at nobody else's cost.
        setTimeout(() => {
          throw reason
        })
      }
    }
  }

  /** Who left stands in nobody's way. */
  #takeDue(now: number): readonly Place[] {
    const due: Place[] = []
    for (; this.#first < this.#places.length; this.#first += 1) {
      const place = this.#places[this.#first] as Place
      if (place.run === undefined) continue
      if (place.until > now) break
      due.push(place)
    }
    return due
  }

  #tidy(): void {
    this.#places = this.#places.slice(this.#first).filter(({ run }) => run !== undefined)
    this.#first = 0
    this.#tidyAt = Math.max(64, 2 * this.#places.length)
  }
}

/** What Node's timers can do and those of browsers cannot. */
type Timer = ReturnType<typeof setTimeout> & { ref?(): void; unref?(): void }
