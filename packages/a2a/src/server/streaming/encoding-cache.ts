/**
 * Caches encoded JSON: the engine passes the same object to every reader, so its JSON is cached by object, one per dialect. A
 * thousand readers of one event then cost one encoding, and polling an unchanged task costs a lookup. A long text is kept as UTF-8
 * and written to all its readers without a copy. Entries are collected with their objects.
 */
import type { Chunk } from '../../bindings/http.ts'
import type { NextStep } from '../../model/heavy-step.ts'
import { encodeJsonInSteps } from '../../model/json-steps.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import type { Dialect } from '../../versions/version.ts'
import type { ReaderAccount } from './unsent-bytes.ts'

export interface EncodingCache {
  event(dialect: Dialect, event: StreamEvent): Chunk
  task(dialect: Dialect, task: Task): Chunk
  /** The cached encoding, if there is one. */
  cachedEvent(dialect: Dialect, event: StreamEvent): Chunk | undefined
  cachedTask(dialect: Dialect, task: Task): Chunk | undefined
  /** Encodes a large object in steps, so that it is cached afterwards. An event is encoded once for all that ask meanwhile. */
  prepareEvent(dialect: Dialect, event: StreamEvent, nextStep: NextStep): Promise<void>
  prepareTask(dialect: Dialect, task: Task, nextStep: NextStep): Promise<void>
}

/** The text of an object in one dialect. Nearly all objects are read in one: 49 bytes, where a Map for each takes 185. */
interface Encoded {
  readonly dialect: string
  readonly chunk: Chunk
  readonly next: Encoded | undefined
}

type EncodedTexts = WeakMap<object, Encoded>

export function createEncodingCache(): EncodingCache {
  const events: EncodedTexts = new WeakMap<object, Encoded>()
  const tasks: EncodedTexts = new WeakMap<object, Encoded>()
  // GetTask and CancelTask return the bare task in every dialect.
  const taskValue = (dialect: Dialect, task: Task): unknown => dialect.writeResult('GetTask', task)
  /** By dialect. A hundred readers of one event share the work. */
  const preparing = new WeakMap<StreamEvent, Map<string, Promise<void>>>()

  async function prepareEvent(dialect: Dialect, event: StreamEvent, nextStep: NextStep): Promise<void> {
    await nextStep()
    keep(events, event, dialect, await encodeJsonInSteps(dialect.writeEvent(event), nextStep))
  }

  return {
    event: (dialect, event) =>
      findEncoded(events, event, dialect) ??
      keep(events, event, dialect, encodeChunk(JSON.stringify(dialect.writeEvent(event)))),
    task: (dialect, task) =>
      findEncoded(tasks, task, dialect) ??
      keep(tasks, task, dialect, encodeChunk(JSON.stringify(taskValue(dialect, task)))),
    cachedEvent: (dialect, event) => findEncoded(events, event, dialect),
    cachedTask: (dialect, task) => findEncoded(tasks, task, dialect),
    prepareEvent(dialect, event, nextStep) {
      let running = preparing.get(event)
      if (running === undefined) preparing.set(event, (running = new Map<string, Promise<void>>()))
      const { id } = dialect
      let prepared = running.get(id)
      if (prepared === undefined) {
        prepared = prepareEvent(dialect, event, nextStep).finally(() => running.delete(id))
        running.set(id, prepared)
      }
      return prepared
    },
    async prepareTask(dialect, task, nextStep) {
      await nextStep()
      keep(tasks, task, dialect, await encodeJsonInSteps(taskValue(dialect, task), nextStep))
    },
  }
}

function findEncoded(texts: EncodedTexts, of: object, { id }: Dialect): Chunk | undefined {
  let encoded = texts.get(of)
  while (encoded !== undefined && encoded.dialect !== id) encoded = encoded.next
  return encoded?.chunk
}

/** The first stays: readers may hold it. */
function keep(texts: EncodedTexts, of: object, dialect: Dialect, chunk: Chunk): Chunk {
  const known = findEncoded(texts, of, dialect)
  if (known !== undefined) return known
  texts.set(of, { dialect: dialect.id, chunk, next: texts.get(of) })
  return chunk
}

// A large text for one reader: the reader's own envelope around bytes that all readers share. Written in slices, each after the
// previous one was taken, so that nothing is copied per reader and a slow reader can be distinguished from a stopped one.

/** Longer texts are sent as shared bytes. */
export const largeChars = 32_768
export const sliceBytes = 65_536

const encoder = new TextEncoder()

/** Encodes a text for caching and sending: a long one becomes UTF-8. */
export function encodeChunk(text: string): Chunk {
  return text.length > largeChars ? encoder.encode(text) : text
}

/** The text, for callers that cannot use bytes. */
export function chunkText(chunk: Chunk): string {
  return typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)
}

/** A short payload is a string. Of a long one all but the last characters are shared. */
export type EncodedItem = string | SealedBytes
export interface SealedBytes {
  readonly bytes: Uint8Array
  /** The number of shared bytes to send, and the text that follows them. */
  readonly end: number
  readonly suffix: string
}

/** Returns everything in one piece: the shared bytes if their end is unchanged. */
export function wholeChunk(item: EncodedItem): Chunk {
  if (typeof item === 'string') return item
  const { bytes, end, suffix } = item
  return chunkText(bytes.subarray(end)) === suffix ? bytes : chunkText(bytes.subarray(0, end)) + suffix
}

/** The length of an envelope, whose ids may hold any character. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

export class ByteSlices {
  readonly #bytes: Uint8Array
  readonly #end: number
  readonly #after: string
  #before: string | undefined
  #at = 0

  /** `end`: how many of the bytes are sent; `after` replaces the rest. */
  constructor(before: string, bytes: Uint8Array, after: string, end = bytes.length) {
    this.#before = before
    this.#bytes = bytes
    this.#after = after
    this.#end = end
  }

  /** `undefined` at the end. */
  next(): Chunk | undefined {
    const before = this.#before
    if (before !== undefined) {
      this.#before = undefined
      if (before !== '') return before
    }
    const at = this.#at
    if (at > this.#end) return undefined
    this.#at = Math.min(at + sliceBytes, this.#end)
    if (at < this.#end) return this.#bytes.subarray(at, this.#at)
    this.#at = this.#end + 1
    return this.#after === '' ? undefined : this.#after
  }
}

/** A whole response in slices. Releases its bytes when the client has taken them or has disconnected. */
export function sliceChunks(
  before: string,
  bytes: Uint8Array,
  after: string,
  account: ReaderAccount,
): AsyncIterable<Chunk> {
  const slices = new ByteSlices(before, bytes, after)
  account.hold(bytes, bytes.length)
  const finish = (): IteratorReturnResult<undefined> => {
    account.close()
    return { done: true, value: undefined }
  }
  const iterator: AsyncIterator<Chunk, undefined> = {
    async next() {
      const value = slices.next()
      return value === undefined ? finish() : { done: false, value }
    },
    async return() {
      return finish()
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
