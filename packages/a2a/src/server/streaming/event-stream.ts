/**
 * The event stream of one call, and its text chunks for one connection. Pulls and never pushes: the next batch is requested when the
 * last was taken, so a slow reader holds only one batch and its position in the log. Both are counted, and over the budget nothing
 * more is pulled. Not a generator, because a waiting generator cannot be canceled.
 */
import type { Framing } from '../../bindings/protocol-binding.ts'
import { type Chunk, batchChars, keepAlive, sseFrame, sseHead } from '../../bindings/http.ts'
import type { StreamItem, TaskEventStream } from '../../engine/contract.ts'
import { startTimer } from '../../model/clock.ts'
import { isHeavy } from '../../model/heavy-step.ts'
import { nextOf, type Pollable, toPollable } from '../../model/pollable.ts'
import { A2AError } from '../../model/error.ts'
import type { ServerCall } from '../calls/call.ts'
import { type EncodedItem, type EventEncoder, largeChars, type SealedBytes, ByteSlices } from './encoding-cache.ts'
import type { ReaderAccount } from './reader-limits.ts'

export interface OpenEvents {
  readonly call: Pick<ServerCall, 'isReported' | 'report' | 'reportStream'>
  readonly stream: TaskEventStream
  /** Counts the bytes that the reader holds. */
  readonly account: ReaderAccount
  readonly encoder: EventEncoder
  /** Called once, however the stream ends. */
  onClose(): void
}

type Batch = IteratorResult<readonly StreamItem[], undefined>

/** Reads the events of a stream, reports its call with the first of them, and ends when the operator ends it. */
export class EventReader {
  readonly account: ReaderAccount
  readonly encoder: EventEncoder
  readonly #source: Pollable<readonly StreamItem[]>
  readonly #onClose: () => void
  /** Released with the report: a stream may be open for hours. */
  #call: OpenEvents['call'] | undefined
  #ended: { readonly reason: unknown } | undefined
  /** Called when there is a batch; set while the reader waits. */
  #ready: (() => void) | undefined
  #isClosed = false
  #isSourceClosed = false

  constructor({ call, stream, account, encoder, onClose }: OpenEvents) {
    this.account = account
    this.encoder = encoder
    this.#source = toPollable(stream[Symbol.asyncIterator]())
    this.#onClose = onClose
    this.#call = call.isReported ? undefined : call
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** As `Pollable.poll`. Throws the error of the stream, or the reason with which the operator ended it. */
  pollItems(ready: () => void): Batch | undefined {
    this.checkNotEnded()
    this.#ready = ready
    const call = this.#call
    try {
      const batch = this.#source.poll(ready)
      if (batch === undefined) return undefined
      this.#ready = undefined
      call?.reportStream(batch)
      if (call?.isReported === true) this.#call = undefined
      return batch
    } catch (reason) {
      call?.report(A2AError.from(reason).code, 200)
      throw reason
    }
  }

  nextItems(): Promise<Batch> {
    return nextOf<readonly StreamItem[]>({ poll: (ready) => this.pollItems(ready) })
  }

  /** Throws the reason once the stream was ended: events that were read before must not be sent afterwards. */
  checkNotEnded(): void {
    if (this.#ended !== undefined) throw this.#ended.reason
  }

  /**
   * Ends the stream at once, also while its reader waits: the reader gets the reason as the last error, and pending events are
   * dropped. Returns false if it has ended already.
   */
  end(reason: unknown): boolean {
    if (this.#isClosed || this.#ended !== undefined) return false
    this.#ended = { reason }
    this.#closeSource()
    const ready = this.#ready
    this.#ready = undefined
    ready?.()
    return true
  }

  /** Releases what the reader holds. Later calls do nothing. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.account.close()
    this.#onClose()
    this.#closeSource()
  }

  #closeSource(): void {
    if (this.#isSourceClosed) return
    this.#isSourceClosed = true
    this.#call?.report('OK', 200)
    this.#call = undefined
    this.#source.close()
  }
}

export interface SseOptions {
  readonly framing: Framing
  readonly keepAliveMs: number
  /** Called once with the error that broke the stream, to log it; returns the error for the client. */
  onError(reason: unknown): A2AError
}

/** The frame that was encoded last: when one event goes to many readers, the next request is nearly always for it. */
interface CachedFrame {
  readonly item: StreamItem
  readonly encoding: string
  readonly before: string
  readonly after: string
  readonly frame: string
}
let lastFrame: CachedFrame | undefined

/** Shorter writes are not counted: counting would cost too much for a thousand readers of one short event. */
export const uncountedChars = 4_096

type Result = IteratorResult<Chunk, undefined>
const doneResult: Result = { done: true, value: undefined }

/** A class, because each of ten thousand waiting readers would keep its own closures (measured at `LogReader`). */
export class SseChunks extends EventReader implements Pollable<Chunk> {
  readonly #options: SseOptions
  readonly #step = (): void => this.#wake()
  #items: readonly StreamItem[] = []
  #at = 0
  /** A large item in progress, and the bytes held for it. */
  #sending: { readonly slices: ByteSlices; readonly bytes: Uint8Array } | undefined
  #holdsItems = false
  /** The large item that was encoded in steps, or is being encoded. */
  #prepared: StreamItem | undefined
  #isPreparing = false
  #broken: { readonly reason: unknown } | undefined
  /** Called when there is a chunk; set while the reader waits. */
  #ready: (() => void) | undefined
  #cancelTimer: (() => void) | undefined
  #isKeepAliveDue = false

  constructor(events: OpenEvents, options: SseOptions) {
    super(events)
    this.#options = options
  }

  poll(ready: () => void): Result | undefined {
    // A reader that requests more has taken what came before.
    this.account.setOwnBytes(0)
    for (;;) {
      const result = this.#produce()
      if (result !== undefined) return result
      if (!this.account.isPaused && !this.#isPreparing && this.#pull()) continue
      if (this.#isKeepAliveDue) {
        this.#isKeepAliveDue = false
        return { done: false, value: keepAlive }
      }
      this.#ready = ready
      this.#cancelTimer ??= startTimer(this.#options.keepAliveMs, () => {
        this.#isKeepAliveDue = true
        this.#wake()
      })
      return undefined
    }
  }

  /** Also while a reader waits. */
  override close(): void {
    super.close()
    this.#items = []
    this.#sending = undefined
    this.#wake()
  }

  #wake(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const ready = this.#ready
    this.#ready = undefined
    ready?.()
  }

  /** Returns what is ready now, or `undefined` if the source must be read, or the reader must wait for room. */
  #produce(): Result | undefined {
    const slice = this.#sending === undefined ? undefined : this.#nextSlice()
    if (slice !== undefined) return { done: false, value: slice }
    if (this.#isPreparing) return undefined
    if (this.#at < this.#items.length) {
      const value = this.#take()
      if (value === undefined) return undefined
      if (typeof value === 'string' && value.length > uncountedChars) this.account.setOwnBytes(value.length)
      return { done: false, value }
    }
    if (this.#broken !== undefined && !this.isClosed)
      return { done: false, value: this.#errorFrame(this.#broken.reason) }
    return this.isClosed ? doneResult : undefined
  }

  #nextSlice(): Chunk | undefined {
    if (this.#sending === undefined) return undefined
    const slice = this.#sending.slices.next()
    if (slice !== undefined) return slice
    this.account.release(this.#sending.bytes)
    this.#sending = undefined
    return undefined
  }

  /** Joins frames to one write. A frame that cannot be encoded ends the stream, like a failing source. */
  #take(): Chunk | undefined {
    const items = this.#items
    let text = ''
    try {
      while (this.#at < items.length && text.length < batchChars) {
        const item = items[this.#at] as StreamItem
        if (this.#mustWait(item)) break
        if (text === '' ? this.#prepare(item) : isHeavy(item.bytes ?? 0)) break
        const frame = this.#frameOf(item)
        if (typeof frame !== 'string' && text !== '') break
        this.#at += 1
        if (typeof frame !== 'string') return this.#begin(item, frame)
        // A single frame is passed on as it is, without a copy for each of its readers.
        text = text === '' ? frame : text + frame
      }
      // Items of a waiting reader are not counted, so that they do not use up the room that it waits for.
      if (this.#at < items.length && text !== '') this.#holdItems()
      else if (this.#holdsItems) this.#releaseItems()
      if (text !== '') return text
      if (!this.#isPreparing) this.account.pause(this.#step)
      return undefined
    } catch (reason) {
      return text + this.#errorFrame(reason)
    }
  }

  #holdItems(): void {
    if (!this.#holdsItems) this.account.hold(this.#items, bytesOf(this.#items))
    this.#holdsItems = true
  }

  #releaseItems(): void {
    this.account.release(this.#items)
    this.#holdsItems = false
  }

  /** Whether an item is large, no reader holds it yet, and the budget has no room for it. */
  #mustWait(item: StreamItem): boolean {
    const { account } = this
    if ((item.bytes ?? 0) <= largeChars || account.canHold()) return false
    return !account.canHold(this.encoder.cached(item)) && !account.canHold(item.event)
  }

  /** Begins to encode a large item, unless that was done. Returns whether it is in progress. */
  #prepare(item: StreamItem): boolean {
    if (this.#prepared === item) return false
    const { account } = this
    const done = this.encoder.prepare(item, () => account.nextStep())
    if (done === undefined) return false
    this.#prepared = item
    this.#isPreparing = true
    // Once for all readers of the event, which share the work.
    const { event } = item
    account.hold(event, item.bytes ?? 0)
    const wake = (): void => {
      account.release(event)
      this.#isPreparing = false
      this.#wake()
    }
    // An item that cannot be encoded fails again, in its turn.
    done.then(wake, wake)
    return true
  }

  #begin(item: StreamItem, { bytes, end, suffix }: SealedBytes): Chunk | undefined {
    const { account } = this
    const { framing } = this.#options
    account.hold(bytes, bytes.length)
    if (this.#holdsItems && this.#at === this.#items.length) this.#releaseItems()
    const before = sseHead(item.seq) + framing.before
    this.#sending = { bytes, slices: new ByteSlices(before, bytes, `${suffix}${framing.after}\n\n`, end) }
    return this.#sending.slices.next()
  }

  #frameOf(item: StreamItem): EncodedItem {
    this.checkNotEnded()
    const { encoding } = this.encoder
    const { before, after } = this.#options.framing
    const isKnown =
      lastFrame !== undefined &&
      lastFrame.encoding === encoding &&
      lastFrame.before === before &&
      lastFrame.after === after
    if (isKnown && isSameItem(lastFrame?.item, item)) return lastFrame?.frame as string
    const payload = this.encoder.encode(item)
    if (typeof payload !== 'string') return payload
    const frame = sseFrame(item.seq, before, payload, after)
    lastFrame = { item, encoding, before, after, frame }
    return frame
  }

  #errorFrame(reason: unknown): string {
    const { framing } = this.#options
    const error = this.#options.onError(reason)
    this.close()
    return `${framing.errorEvent}data: ${framing.error(error)}\n\n`
  }

  /** Reads from the source. Returns whether it brought anything. */
  #pull(): boolean {
    const { account } = this
    if (!account.canPull()) {
      account.pause(this.#step, 'pull')
      return false
    }
    try {
      const result = this.pollItems(this.#step)
      if (result === undefined) return false
      if (result.done === true) this.close()
      else {
        this.#items = result.value
        this.#at = 0
      }
    } catch (reason) {
      this.#broken = { reason }
    }
    return true
  }
}

function bytesOf(items: readonly StreamItem[]): number {
  let bytes = 0
  for (const item of items) bytes += item.bytes ?? 0
  return bytes
}

/** Whether two items are the same event for streams of one encoding. */
export function isSameItem(a: StreamItem | undefined, b: StreamItem): boolean {
  return a === b || (a?.event === b.event && a.seq === b.seq && a.final === b.final && a.gap === b.gap)
}
