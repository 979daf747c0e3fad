/** The newest events of a task, in memory for readers that keep up. Others read the store. */
import type { LogEvent } from './log-event.ts'

const maxEvents = 2_048
const maxBytes = 4_000_000
/** Bounds of one batch for a reader. */
const maxBatch = 1_000
const maxBatchBytes = 256_000

export class EventTail {
  /** All visible events after this seq are in `events`. */
  from: number
  #events: LogEvent[] = []
  #bytes = 0
  #lastBatch: { readonly after: number; readonly lastSeq: number; readonly events: readonly LogEvent[] } | undefined

  constructor(from: number) {
    this.from = from
  }

  get events(): readonly LogEvent[] {
    return this.#events
  }

  push(event: LogEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes
  }

  /** Drops half of the events at a time, so that each event is moved once on average. */
  trim(): void {
    if (this.#events.length <= maxEvents && this.#bytes <= maxBytes) return
    const dropped = Math.ceil(this.#events.length / 2)
    if (dropped > 0) this.from = (this.#events[dropped - 1] as LogEvent).seq
    for (const { bytes } of this.#events.splice(0, dropped)) this.#bytes -= bytes
    this.#lastBatch = undefined
  }

  /**
   * The next batch of events after a seq. Readers at the same position get the same array, so that slow readers share memory with
   * the others.
   */
  after(seq: number): readonly LogEvent[] {
    const all = this.#events
    const lastSeq = all.at(-1)?.seq ?? 0
    const given = this.#lastBatch
    if (given !== undefined && given.after === seq && given.lastSeq === lastSeq) return given.events
    // Searched from the end, where a reader that keeps up always is.
    let from = all.length
    while (from > 0 && (all[from - 1] as LogEvent).seq > seq) from -= 1
    const most = Math.min(all.length, from + maxBatch)
    let to = from
    for (let bytes = 0; to < most && bytes < maxBatchBytes; to += 1) bytes += (all[to] as LogEvent).bytes
    const events = all.slice(from, to)
    this.#lastBatch = events.length === 0 ? undefined : { after: seq, lastSeq, events }
    return events
  }
}
