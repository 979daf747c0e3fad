/**
 * Caches encoded JSON: the engine passes the same object to every reader, so its JSON is cached by object, one per dialect. A
 * thousand readers of one event then cost one encoding, and polling an unchanged task costs a lookup. A long text is kept as UTF-8
 * and written to all its readers without a copy. Entries are collected with their objects.
 */
import type { Chunk } from '../../bindings/http.ts'
import type { StreamItem } from '../../engine/contract.ts'
import type { Pollable } from '../../model/pollable.ts'
import { isHeavy, type NextStep } from '../../model/heavy-step.ts'
import { decodeTextInSteps, encodeJsonInSteps, parseJsonInSteps } from '../../model/json-steps.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import type { Dialect } from '../../versions/version.ts'
import type { EventDecorator } from '../extensions/apply-extensions.ts'
import type { ReaderAccount } from './reader-limits.ts'

export interface EncodingCache {
  event(dialect: Dialect, event: StreamEvent): Chunk
  task(dialect: Dialect, task: Task): Chunk
  /** The cached encoding, if there is one. */
  cachedEvent(dialect: Dialect, event: StreamEvent): Chunk | undefined
  cachedTask(dialect: Dialect, task: Task): Chunk | undefined
  /** Encodes a large object in steps, so that it is cached afterwards. An event is encoded once for all that ask meanwhile. */
  prepareEvent(dialect: Dialect, event: StreamEvent, nextStep: NextStep): Promise<void>
  prepareTask(dialect: Dialect, task: Task, nextStep: NextStep): Promise<void>
  /** How a stream encodes its items. One for all streams of a dialect that no extension decorates. */
  eventEncoder(dialect: Dialect, decorator: EventDecorator | undefined): EventEncoder
}

/** Encodes the items of a stream: the events with what its extensions add to them, and the end of the stream. */
export interface EventEncoder {
  encode(item: StreamItem): EncodedItem
  /** The value of the JSON that `encode` returns, for a binding that does not send JSON. */
  payload(item: StreamItem): unknown
  /** Like `payload`, for a large item. */
  payloadInSteps(item: StreamItem, nextStep: NextStep): Promise<unknown>
  /** The bytes that `encode` would return, if they are cached. */
  cached(item: StreamItem): Uint8Array | undefined
  /** Encodes a large item in steps, so that `encode` need not; `undefined` if it is small, or encoded. */
  prepare(item: StreamItem, nextStep: NextStep): Promise<void> | undefined
  /** Streams with the same value encode an item alike. */
  readonly encoding: string
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

  const eventEncoders = new Map<Dialect, EventEncoder>()
  const cache: EncodingCache = {
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
    eventEncoder(dialect, decorator) {
      if (decorator !== undefined) return createEventEncoder(cache, dialect, decorator)
      let encoder = eventEncoders.get(dialect)
      if (encoder === undefined) eventEncoders.set(dialect, (encoder = createEventEncoder(cache, dialect, undefined)))
      return encoder
    },
  }
  return cache
}

function createEventEncoder(
  cache: EncodingCache,
  dialect: Dialect,
  decorator: EventDecorator | undefined,
): EventEncoder {
  const eventOf = (item: StreamItem): StreamEvent => (decorator === undefined ? item.event : decorator.decorate(item))
  const encode = (item: StreamItem): EncodedItem => {
    const event = eventOf(item)
    const payload = cache.event(dialect, event)
    if (typeof payload === 'string') return dialect.seal(payload, event, item.final)
    return sealBytes(dialect, payload, event, item.final)
  }
  const isPayload = (event: StreamEvent): boolean => dialect.writesCanonicalEvents === true && isPlainText(event)
  return {
    encode,
    payload(item) {
      const event = eventOf(item)
      return isPayload(event) ? event : (JSON.parse(chunkText(wholeChunk(encode(item)))) as unknown)
    },
    async payloadInSteps(item, nextStep) {
      const event = eventOf(item)
      if (isPayload(event)) return event
      if (cache.cachedEvent(dialect, event) === undefined) await cache.prepareEvent(dialect, event, nextStep)
      const json = wholeChunk(encode(item))
      return parseJsonInSteps(typeof json === 'string' ? json : await decodeTextInSteps(json, nextStep), nextStep)
    },
    cached(item) {
      const payload = cache.cachedEvent(dialect, eventOf(item))
      return typeof payload === 'object' ? payload : undefined
    },
    prepare(item, nextStep) {
      if (!isHeavy(item.bytes ?? 0)) return undefined
      const event = eventOf(item)
      return cache.cachedEvent(dialect, event) === undefined ? cache.prepareEvent(dialect, event, nextStep) : undefined
    },
    encoding: decorator === undefined ? dialect.id : `${dialect.id} ${decorator.key}`,
  }
}

/**
 * Whether an event is its own JSON value, as nearly all are in a stream of text. Metadata and data of an agent may hold anything
 * that JSON.stringify converts, such as a Date.
 */
function isPlainText(event: StreamEvent): boolean {
  if ('artifactUpdate' in event) {
    const { artifact, metadata } = event.artifactUpdate
    if (metadata !== undefined || artifact.metadata !== undefined) return false
    return artifact.parts.every((part) => 'text' in part && part.metadata === undefined)
  }
  if (!('statusUpdate' in event)) return false
  return event.statusUpdate.metadata === undefined && event.statusUpdate.status.message === undefined
}

/** The last two characters of JSON are always ASCII. */
function sealBytes(dialect: Dialect, bytes: Uint8Array, event: StreamEvent, final: boolean): SealedBytes {
  if (dialect.sealsWhole === true) {
    const whole = new TextEncoder().encode(dialect.seal(chunkText(bytes), event, final))
    return { bytes: whole, end: whole.length, suffix: '' }
  }
  const end = bytes.length - 2
  return { bytes, end, suffix: dialect.seal(String.fromCharCode(...bytes.subarray(end)), event, final) }
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
export function sliceChunks(before: string, bytes: Uint8Array, after: string, account: ReaderAccount): Pollable<Chunk> {
  const slices = new ByteSlices(before, bytes, after)
  account.hold(bytes, bytes.length)
  return {
    poll() {
      const value = slices.next()
      if (value !== undefined) return { done: false, value }
      account.close()
      return { done: true, value: undefined }
    },
    close: () => account.close(),
  }
}
