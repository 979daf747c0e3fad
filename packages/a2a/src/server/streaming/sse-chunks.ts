/**
 * An event stream as text chunks for one connection. Pulls and never pushes: the next batch is requested when the last was taken,
 * so a slow reader holds only one batch and its position in the log. Both are counted, and over the budget nothing more is pulled.
 * Not a generator, because a waiting generator cannot be canceled.
 */
import type { Framing } from '../../bindings/protocol-binding.ts'
import { type Chunk, batchChars, keepAlive, sseFrame, sseHead } from '../../bindings/http.ts'
import type { Pollable, StreamItem, TaskEventStream } from '../../engine/contract.ts'
import { startTimer } from '../../model/clock.ts'
import { isHeavy, type NextStep } from '../../model/heavy-step.ts'
import { nextOf, toPollable } from '../../engine/task/follow.ts'
import type { A2AError } from '../../model/error.ts'
import { type EncodedItem, largeChars, type SealedBytes, ByteSlices } from './encoding-cache.ts'
import type { ReaderAccount } from './unsent-bytes.ts'

export interface SseStreamOptions {
  readonly stream: TaskEventStream
  readonly framing: Framing
  /** Returns the payload of an item, without the envelope. */
  encode(item: StreamItem): EncodedItem
  /** The bytes that `encode` would return, if they are cached. */
  cached(item: StreamItem): Uint8Array | undefined
  /** Encodes a large item in steps, so that `encode` need not; `undefined` if it is small, or encoded. */
  prepare(item: StreamItem, nextStep: NextStep): Promise<void> | undefined
  /** Counts the bytes that this reader holds. */
  readonly account: ReaderAccount
  /** Streams with the same value encode an item alike. */
  readonly encoding: string
  readonly keepAliveMs: number
  /** Throws once the stream was ended by the operator. */
  check?(): void
  /** Called once with the error that broke the stream, to log it; returns the error for the client. */
  onError(reason: unknown): A2AError
  /** Called once, however it ends. */
  onEnd(): void
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

export function streamChunks({ stream, ...options }: SseStreamOptions): SseChunks {
  return new SseChunks(stream, options)
}

/** Without the stream, which holds the snapshot that it began with. */
type ChunkOptions = Omit<SseStreamOptions, 'stream'>

/** A class, because each of ten thousand waiting readers would keep its own closures (measured at `LogReader`). */
export class SseChunks implements Pollable<Chunk>, AsyncIterable<Chunk> {
  readonly #options: ChunkOptions
  readonly #source: Pollable<readonly StreamItem[]>
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
  #ended = false
  /** Called when there is a chunk; set while the reader waits. */
  #ready: (() => void) | undefined
  #cancelTimer: (() => void) | undefined
  #isKeepAliveDue = false

  constructor(stream: TaskEventStream, options: ChunkOptions) {
    this.#options = options
    this.#source = toPollable(stream[Symbol.asyncIterator]())
  }

  poll(ready: () => void): Result | undefined {
    // A reader that requests more has taken what came before.
    this.#options.account.setOwnBytes(0)
    for (;;) {
      const result = this.#produce()
      if (result !== undefined) return result
      if (!this.#options.account.isPaused && !this.#isPreparing && this.#pull()) continue
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

  next(): Promise<Result> {
    return nextOf(this)
  }

  /** Cancels at once, also while `next` waits. */
  return(): Promise<Result> {
    if (!this.#ended) {
      this.#finish()
      this.#wake()
      this.#releaseSource()
    }
    return Promise.resolve(doneResult)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #finish(): void {
    if (this.#ended) return
    this.#ended = true
    this.#items = []
    this.#sending = undefined
    this.#options.account.close()
    this.#options.onEnd()
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
      if (typeof value === 'string' && value.length > uncountedChars) this.#options.account.setOwnBytes(value.length)
      return { done: false, value }
    }
    if (this.#broken !== undefined && !this.#ended) return { done: false, value: this.#errorFrame(this.#broken.reason) }
    return this.#ended ? doneResult : undefined
  }

  #nextSlice(): Chunk | undefined {
    if (this.#sending === undefined) return undefined
    const slice = this.#sending.slices.next()
    if (slice !== undefined) return slice
    this.#options.account.release(this.#sending.bytes)
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
      if (!this.#isPreparing) this.#options.account.pause(this.#step)
      return undefined
    } catch (reason) {
      this.#releaseSource()
      return text + this.#errorFrame(reason)
    }
  }

  #holdItems(): void {
    if (!this.#holdsItems) this.#options.account.hold(this.#items, bytesOf(this.#items))
    this.#holdsItems = true
  }

  #releaseItems(): void {
    this.#options.account.release(this.#items)
    this.#holdsItems = false
  }

  /** Whether an item is large, no reader holds it yet, and the budget has no room for it. */
  #mustWait(item: StreamItem): boolean {
    const { account } = this.#options
    if ((item.bytes ?? 0) <= largeChars || account.canHold()) return false
    return !account.canHold(this.#options.cached(item)) && !account.canHold(item.event)
  }

  /** Begins to encode a large item, unless that was done. Returns whether it is in progress. */
  #prepare(item: StreamItem): boolean {
    if (this.#prepared === item) return false
    const { account, prepare } = this.#options
    const done = prepare(item, () => account.nextStep())
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
    const { framing, account } = this.#options
    account.hold(bytes, bytes.length)
    if (this.#holdsItems && this.#at === this.#items.length) this.#releaseItems()
    const before = sseHead(item.seq) + framing.before
    this.#sending = { bytes, slices: new ByteSlices(before, bytes, `${suffix}${framing.after}\n\n`, end) }
    return this.#sending.slices.next()
  }

  #frameOf(item: StreamItem): EncodedItem {
    this.#options.check?.()
    const { encoding, framing } = this.#options
    const { before, after } = framing
    const isKnown =
      lastFrame !== undefined &&
      lastFrame.encoding === encoding &&
      lastFrame.before === before &&
      lastFrame.after === after
    if (isKnown && isSameItem(lastFrame?.item, item)) return lastFrame?.frame as string
    const payload = this.#options.encode(item)
    if (typeof payload !== 'string') return payload
    const frame = sseFrame(item.seq, before, payload, after)
    lastFrame = { item, encoding, before, after, frame }
    return frame
  }

  #errorFrame(reason: unknown): string {
    const { framing } = this.#options
    const error = this.#options.onError(reason)
    this.#finish()
    return `${framing.errorEvent}data: ${framing.error(error)}\n\n`
  }

  /** Reads from the source. Returns whether it brought anything. */
  #pull(): boolean {
    const { account } = this.#options
    if (!account.canPull()) {
      account.pause(this.#step, 'pull')
      return false
    }
    try {
      const result = this.#source.poll(this.#step)
      if (result === undefined) return false
      if (result.done === true) this.#finish()
      else {
        this.#items = result.value
        this.#at = 0
      }
    } catch (reason) {
      this.#broken = { reason }
    }
    return true
  }

  #releaseSource(): void {
    // Later errors of the source are ignored.
    this.#source.return().then(undefined, () => {})
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
