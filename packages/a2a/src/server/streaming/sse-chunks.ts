/**
 * An event stream as text chunks for one connection. Pulls and never pushes: the next batch is requested when the last was taken,
 * so a slow reader holds only one batch and its position in the log. Both are counted, and over the budget nothing more is pulled.
 * Not a generator, because a waiting generator cannot be canceled.
 */
import type { Framing } from '../../bindings/protocol-binding.ts'
import { type Chunk, batchChars, keepAlive, sseFrame, sseHead } from '../../bindings/http.ts'
import type { TaskEventStream, StreamItem } from '../../engine/contract.ts'
import { type SharedTimer, setSharedTimeout } from '../../engine/shared-timers.ts'
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
  /** Counts the bytes that this reader holds. */
  readonly account: ReaderAccount
  /** Streams with the same value encode an item alike. */
  readonly encoding: string
  readonly keepAliveMs: number
  /** Called once with the error that broke the stream, to log it; returns the error for the client. */
  onError(reason: unknown): A2AError
  /** Called once, however it ends. */
  onEnd(): void
}

export interface SseChunks extends AsyncIterable<Chunk> {
  next(): Promise<Result>
  /** Cancels at once, also while `next` waits. */
  return(): Promise<Result>
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

export function streamChunks(parts: SseStreamOptions): SseChunks {
  const { framing, account } = parts
  const source = parts.stream[Symbol.asyncIterator]()
  let items: readonly StreamItem[] = []
  let at = 0
  /** A large item in progress, and the bytes held for it. */
  let sending: { readonly slices: ByteSlices; readonly bytes: Uint8Array } | undefined
  let holdsItems = false
  let asking = false
  let broken: { readonly reason: unknown } | undefined
  let ended = false
  let waiter: ((result: Result) => void) | undefined
  let timer: SharedTimer | undefined

  function finish(): void {
    if (ended) return
    ended = true
    items = []
    sending = undefined
    account.close()
    parts.onEnd()
  }

  function answer(result: Result): void {
    timer?.cancel()
    const resolve = waiter
    waiter = undefined
    resolve?.(result)
  }

  /** Returns what is ready now, or `undefined` if the source must be read, or the reader must wait for room. */
  function produce(): Result | undefined {
    const slice = sending === undefined ? undefined : nextSlice()
    if (slice !== undefined) return { done: false, value: slice }
    if (at < items.length) {
      const value = take()
      if (value === undefined) return undefined
      if (typeof value === 'string' && value.length > uncountedChars) account.setOwnBytes(value.length)
      return { done: false, value }
    }
    if (broken !== undefined && !ended) return { done: false, value: errorFrame(broken.reason) }
    return ended ? doneResult : undefined
  }

  function nextSlice(): Chunk | undefined {
    if (sending === undefined) return undefined
    const slice = sending.slices.next()
    if (slice !== undefined) return slice
    account.release(sending.bytes)
    sending = undefined
    return undefined
  }

  /** Joins frames to one write. A frame that cannot be encoded ends the stream, like a failing source. */
  function take(): Chunk | undefined {
    let text = ''
    try {
      while (at < items.length && text.length < batchChars) {
        const item = items[at] as StreamItem
        if (mustWait(item)) break
        const frame = frameOf(item)
        if (typeof frame !== 'string' && text !== '') break
        at += 1
        if (typeof frame !== 'string') return begin(item, frame)
        // A single frame is passed on as it is, without a copy for each of its readers.
        text = text === '' ? frame : text + frame
      }
      // Items of a waiting reader are not counted, so that they do not use up the room that it waits for.
      if (at < items.length && text !== '') holdItems()
      else if (holdsItems) releaseItems()
      if (text !== '') return text
      account.pause(step)
      return undefined
    } catch (reason) {
      releaseSource()
      return text + errorFrame(reason)
    }
  }

  function holdItems(): void {
    if (!holdsItems) account.hold(items, bytesOf(items))
    holdsItems = true
  }

  function releaseItems(): void {
    account.release(items)
    holdsItems = false
  }

  /** Whether an item is large, no reader holds it yet, and the budget has no room for it. */
  function mustWait(item: StreamItem): boolean {
    return (item.bytes ?? 0) > largeChars && !account.canHold() && !account.canHold(parts.cached(item))
  }

  function begin(item: StreamItem, { bytes, end, suffix }: SealedBytes): Chunk | undefined {
    account.hold(bytes, bytes.length)
    if (holdsItems && at === items.length) releaseItems()
    const before = sseHead(item.seq) + framing.before
    sending = { bytes, slices: new ByteSlices(before, bytes, `${suffix}${framing.after}\n\n`, end) }
    return sending.slices.next()
  }

  function frameOf(item: StreamItem): EncodedItem {
    const { encoding } = parts
    const { before, after } = framing
    const isKnown =
      lastFrame !== undefined &&
      lastFrame.encoding === encoding &&
      lastFrame.before === before &&
      lastFrame.after === after
    if (isKnown && isSameItem(lastFrame?.item, item)) return lastFrame?.frame as string
    const payload = parts.encode(item)
    if (typeof payload !== 'string') return payload
    const frame = sseFrame(item.seq, before, payload, after)
    lastFrame = { item, encoding, before, after, frame }
    return frame
  }

  function errorFrame(reason: unknown): string {
    const error = parts.onError(reason)
    finish()
    return `${framing.errorEvent}data: ${framing.error(error)}\n\n`
  }

  function ask(): void {
    if (!account.canPull()) return account.pause(step, 'pull')
    asking = true
    source.next().then(
      (result) => {
        if (result.done === true) finish()
        else if (!ended) {
          items = result.value
          at = 0
        }
        arrived()
      },
      (reason: unknown) => {
        broken = { reason }
        arrived()
      },
    )
  }

  function arrived(): void {
    asking = false
    step()
  }

  /** Resolves the waiting `next`, or reads more from the source. */
  function step(): void {
    if (waiter === undefined) return
    const result = produce()
    if (result !== undefined) answer(result)
    else if (!asking && !account.isPaused) ask()
  }

  function releaseSource(): void {
    // Later errors of the source are ignored.
    source.return?.()?.then(undefined, () => {})
  }

  const chunks: SseChunks = {
    next() {
      // A reader that requests more has taken what came before.
      account.setOwnBytes(0)
      const result = produce()
      if (result !== undefined) return Promise.resolve(result)
      return new Promise((resolve) => {
        waiter = resolve
        timer = setSharedTimeout(parts.keepAliveMs, () => answer({ done: false, value: keepAlive }))
        if (!asking && !account.isPaused) ask()
      })
    },
    return() {
      if (!ended) {
        finish()
        answer(doneResult)
        releaseSource()
      }
      return Promise.resolve(doneResult)
    },
    [Symbol.asyncIterator]: () => chunks as AsyncIterator<Chunk>,
  }
  return chunks
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
