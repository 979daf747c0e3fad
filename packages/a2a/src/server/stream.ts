/**
 * An event stream as chunks of text for one connection. Pulled, never pushed: the next
 * batch is asked for when the last was taken, so a slow reader holds one batch and its
 * place in the log, and nothing else. Not a generator, because those cannot be let go
 * of while they wait.
 */
import type { Framing } from '../bindings/call.ts'
import { batchChars, keepAlive, sseFrame } from '../bindings/sse.ts'
import type { EventStream, StreamItem } from '../engine/contract.ts'
import type { Wait } from '../engine/later.ts'
import { later } from '../engine/later.ts'
import type { A2AError } from '../model/error.ts'

export interface StreamParts {
  readonly stream: EventStream
  readonly framing: Framing
  /** The payload of an item, without the envelope. */
  encode(item: StreamItem): string
  /** Streams with the same answer to this encode an item alike. */
  readonly encoding: string
  readonly keepAliveMs: number
  /** Called once with what broke the stream, to be logged; answers what the client may know. */
  failed(reason: unknown): A2AError
  /** Called once, however it ends. */
  ended(): void
}

export interface Chunks extends AsyncIterable<string> {
  next(): Promise<IteratorResult<string, undefined>>
  /** Lets go at once, also while `next` waits. */
  return(): Promise<IteratorResult<string, undefined>>
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

type Result = IteratorResult<string, undefined>
const over: Result = { done: true, value: undefined }

export function streamChunks(parts: StreamParts): Chunks {
  const { framing } = parts
  const source = parts.stream[Symbol.asyncIterator]()
  let items: readonly StreamItem[] = []
  let at = 0
  let asking = false
  let broken: { readonly reason: unknown } | undefined
  let ended = false
  let waiter: ((result: Result) => void) | undefined
  let timer: Wait | undefined

  function finish(): void {
    if (ended) return
    ended = true
    items = []
    parts.ended()
  }

  function answer(result: Result): void {
    timer?.cancel()
    const resolve = waiter
    waiter = undefined
    resolve?.(result)
  }

  /** What there is to give now, or `undefined` if the source must be asked. */
  function produce(): Result | undefined {
    if (at < items.length) return { done: false, value: take() }
    if (broken !== undefined && !ended) return { done: false, value: lastWords(broken.reason) }
    return ended ? over : undefined
  }

  /** As many frames as make one write. A frame that cannot be encoded ends the stream, as a failing source does. */
  function take(): string {
    let text = ''
    try {
      while (at < items.length && text.length < batchChars) {
        const item = items[at++] as StreamItem
        const frame = frameOf(item)
        // A lone frame is passed on as it is, and not copied for each of its readers.
        text = text === '' ? frame : text + frame
      }
      return text
    } catch (reason) {
      letGo()
      return text + lastWords(reason)
    }
  }

  function frameOf(item: StreamItem): string {
    const { encoding } = parts
    const { before, after } = framing
    const isKnown = last !== undefined && last.encoding === encoding && last.before === before && last.after === after
    if (isKnown && isSame(last?.item, item)) return last?.frame as string
    const frame = sseFrame(item.seq, before, parts.encode(item), after)
    last = { item, encoding, before, after, frame }
    return frame
  }

  function lastWords(reason: unknown): string {
    const error = parts.failed(reason)
    finish()
    return `${framing.errorEvent}data: ${framing.error(error)}\n\n`
  }

  function ask(): void {
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
    if (waiter === undefined) return
    const result = produce()
    if (result === undefined) ask()
    else answer(result)
  }

  function letGo(): void {
    // What the source still has to say is nobody's business any more.
    source.return?.()?.then(undefined, () => {})
  }

  const chunks: Chunks = {
    next() {
      const result = produce()
      if (result !== undefined) return Promise.resolve(result)
      return new Promise((resolve) => {
        waiter = resolve
        timer = later(parts.keepAliveMs, () => answer({ done: false, value: keepAlive }))
        if (!asking) ask()
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
    [Symbol.asyncIterator]: () => chunks as AsyncIterator<string>,
  }
  return chunks
}

function isSame(a: StreamItem | undefined, b: StreamItem): boolean {
  return a === b || (a?.event === b.event && a.seq === b.seq && a.final === b.final && a.gap === b.gap)
}
