/**
 * An event stream as chunks of text for one connection. Pulled, never pushed: the next
 * batch is asked for when the last was taken, so a slow reader holds one batch and its
 * place in the log, and nothing else. Both are counted, and over the budget nothing more
 * is pulled. Not a generator, because those cannot be let go of while they wait.
 */
import type { Framing } from '../bindings/call.ts'
import type { Chunk } from '../bindings/http.ts'
import { batchChars, keepAlive, sseFrame, sseHead } from '../bindings/sse.ts'
import type { EventStream, StreamItem } from '../engine/contract.ts'
import type { Wait } from '../engine/later.ts'
import { later } from '../engine/later.ts'
import type { A2AError } from '../model/error.ts'
import { type EncodedItem, largeChars, type SealedBytes, Slices } from './slices.ts'
import type { ReaderAccount } from './unsent-bytes.ts'

export interface StreamParts {
  readonly stream: EventStream
  readonly framing: Framing
  /** The payload of an item, without the envelope. */
  encode(item: StreamItem): EncodedItem
  /** The bytes that `encode` would answer with, if they were made before. */
  known(item: StreamItem): Uint8Array | undefined
  /** What this reader holds is counted here. */
  readonly account: ReaderAccount
  /** Streams with the same answer to this encode an item alike. */
  readonly encoding: string
  readonly keepAliveMs: number
  /** Called once with what broke the stream, to be logged; answers what the client may know. */
  failed(reason: unknown): A2AError
  /** Called once, however it ends. */
  ended(): void
}

export interface Chunks extends AsyncIterable<Chunk> {
  next(): Promise<Result>
  /** Lets go at once, also while `next` waits. */
  return(): Promise<Result>
}

/** The frame that was made last: when one event goes to many, it is nearly always the one that is wanted next. */
interface Framed {
  readonly item: StreamItem
  readonly encoding: string
  readonly before: string
  readonly after: string
  readonly frame: string
}
let last: Framed | undefined

/** Shorter writes are not counted: a thousand readers of one short event would pay for it. */
const uncountedChars = 4_096

type Result = IteratorResult<Chunk, undefined>
const over: Result = { done: true, value: undefined }

export function streamChunks(parts: StreamParts): Chunks {
  const { framing, account } = parts
  const source = parts.stream[Symbol.asyncIterator]()
  let items: readonly StreamItem[] = []
  let at = 0
  /** A large item that is being sent, and the bytes that are held for it. */
  let sending: { readonly slices: Slices; readonly bytes: Uint8Array } | undefined
  let holdsItems = false
  let asking = false
  let broken: { readonly reason: unknown } | undefined
  let ended = false
  let waiter: ((result: Result) => void) | undefined
  let timer: Wait | undefined

  function finish(): void {
    if (ended) return
    ended = true
    items = []
    sending = undefined
    account.close()
    parts.ended()
  }

  function answer(result: Result): void {
    timer?.cancel()
    const resolve = waiter
    waiter = undefined
    resolve?.(result)
  }

  /** What there is to give now, or `undefined` if the source must be asked, or the reader must wait for room. */
  function produce(): Result | undefined {
    const slice = sending === undefined ? undefined : nextSlice()
    if (slice !== undefined) return { done: false, value: slice }
    if (at < items.length) {
      const value = take()
      if (value === undefined) return undefined
      if (typeof value === 'string' && value.length > uncountedChars) account.setOwn(value.length)
      return { done: false, value }
    }
    if (broken !== undefined && !ended) return { done: false, value: lastWords(broken.reason) }
    return ended ? over : undefined
  }

  function nextSlice(): Chunk | undefined {
    if (sending === undefined) return undefined
    const slice = sending.slices.next()
    if (slice !== undefined) return slice
    account.release(sending.bytes)
    sending = undefined
    return undefined
  }

  /** As many frames as make one write. A frame that cannot be encoded ends the stream, as a failing source does. */
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
        // A lone frame is passed on as it is, and not copied for each of its readers.
        text = text === '' ? frame : text + frame
      }
      // What a waiting reader holds is not counted, so that it does not use up the room that it waits for.
      if (at < items.length && text !== '') holdItems()
      else if (holdsItems) releaseItems()
      if (text !== '') return text
      account.pause(step)
      return undefined
    } catch (reason) {
      letGo()
      return text + lastWords(reason)
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
    return (item.bytes ?? 0) > largeChars && !account.mayHold() && !account.mayHold(parts.known(item))
  }

  function begin(item: StreamItem, { bytes, end, suffix }: SealedBytes): Chunk | undefined {
    account.hold(bytes, bytes.length)
    if (holdsItems && at === items.length) releaseItems()
    const before = sseHead(item.seq) + framing.before
    sending = { bytes, slices: new Slices(before, bytes, `${suffix}${framing.after}\n\n`, end) }
    return sending.slices.next()
  }

  function frameOf(item: StreamItem): EncodedItem {
    const { encoding } = parts
    const { before, after } = framing
    const isKnown = last !== undefined && last.encoding === encoding && last.before === before && last.after === after
    if (isKnown && isSame(last?.item, item)) return last?.frame as string
    const payload = parts.encode(item)
    if (typeof payload !== 'string') return payload
    const frame = sseFrame(item.seq, before, payload, after)
    last = { item, encoding, before, after, frame }
    return frame
  }

  function lastWords(reason: unknown): string {
    const error = parts.failed(reason)
    finish()
    return `${framing.errorEvent}data: ${framing.error(error)}\n\n`
  }

  function ask(): void {
    if (!account.mayPull()) return account.pause(step, 'pull')
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

  /** Answers the waiting reader, or asks the source for more. */
  function step(): void {
    if (waiter === undefined) return
    const result = produce()
    if (result !== undefined) answer(result)
    else if (!asking && !account.isPaused) ask()
  }

  function letGo(): void {
    // What the source still has to say is nobody's business any more.
    source.return?.()?.then(undefined, () => {})
  }

  const chunks: Chunks = {
    next() {
      // A reader that asks for more has taken what came before.
      account.setOwn(0)
      const result = produce()
      if (result !== undefined) return Promise.resolve(result)
      return new Promise((resolve) => {
        waiter = resolve
        timer = later(parts.keepAliveMs, () => answer({ done: false, value: keepAlive }))
        if (!asking && !account.isPaused) ask()
      })
    },
    return() {
      if (!ended) {
        finish()
        answer(over)
        letGo()
      }
      return Promise.resolve(over)
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

function isSame(a: StreamItem | undefined, b: StreamItem): boolean {
  return a === b || (a?.event === b.event && a.seq === b.seq && a.final === b.final && a.gap === b.gap)
}
