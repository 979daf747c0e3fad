/** The newest events of a task, in memory for readers that keep up. Others read the store. */
import type { TailEvent } from './event-of.ts'

const maxEvents = 2_048
const maxBytes = 4_000_000
/** Bounds of one batch for a reader. */
const maxBatch = 1_000
const maxBatchBytes = 256_000

export class Tail {
  /** All visible events after this seq are in `events`. */
  from: number
  #events: TailEvent[] = []
  #bytes = 0
  #given: { readonly after: number; readonly lastSeq: number; readonly events: readonly TailEvent[] } | undefined

  constructor(from: number) {
    this.from = from
  }

  get events(): readonly TailEvent[] {
    return this.#events
  }

  push(event: TailEvent): void {
    this.#events.push(event)
    this.#bytes += event.bytes
  }

  /** Drops half of the events at a time, so that each event is moved once on average. */
  shorten(): void {
    if (this.#events.length <= maxEvents && this.#bytes <= maxBytes) return
    const dropped = Math.ceil(this.#events.length / 2)
    if (dropped > 0) this.from = (this.#events[dropped - 1] as TailEvent).seq
    for (const { bytes } of this.#events.splice(0, dropped)) this.#bytes -= bytes
    this.#given = undefined
  }

  /**
   * The next batch of events after a seq. Readers at the same position get the same array, so that what a slow reader holds
   * is shared with the others.
   */
  after(seq: number): readonly TailEvent[] {
    const all = this.#events
    const lastSeq = all.at(-1)?.seq ?? 0
    const given = this.#given
    if (given !== undefined && given.after === seq && given.lastSeq === lastSeq) return given.events
    // Found from the end, where a reader that keeps up always is.
    let from = all.length
    while (from > 0 && (all[from - 1] as TailEvent).seq > seq) from -= 1
    const most = Math.min(all.length, from + maxBatch)
    let to = from
    for (let bytes = 0; to < most && bytes < maxBatchBytes; to += 1) bytes += (all[to] as TailEvent).bytes
    const events = all.slice(from, to)
    this.#given = events.length === 0 ? undefined : { after: seq, lastSeq, events }
    return events
  }
}
