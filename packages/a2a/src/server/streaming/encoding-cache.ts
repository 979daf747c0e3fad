/**
 * Caches encoded JSON: the engine passes the same object to every reader, so its JSON is cached by object, one per dialect. A
 * thousand readers of one event then cost one encoding, and polling an unchanged task costs a lookup. A long text is kept as UTF-8
 * and written to all its readers without a copy. Entries are collected with their objects.
 */
import type { Chunk } from '../../bindings/http.ts'
import type { StreamEvent, Task } from '../../model/task.ts'
import type { Dialect } from '../../versions/version.ts'
import { encodeChunk } from './byte-slices.ts'

export interface EncodingCache {
  event(dialect: Dialect, event: StreamEvent): Chunk
  task(dialect: Dialect, task: Task): Chunk
  /** The cached encoding, if there is one. */
  cachedEvent(dialect: Dialect, event: StreamEvent): Chunk | undefined
  cachedTask(dialect: Dialect, task: Task): Chunk | undefined
}

type EncodedTexts = WeakMap<object, Map<string, Chunk>>

export function createEncodingCache(): EncodingCache {
  const events: EncodedTexts = new WeakMap<object, Map<string, Chunk>>()
  const tasks: EncodedTexts = new WeakMap<object, Map<string, Chunk>>()
  return {
    event: (dialect, event) => encodeOnce(events, event, dialect.id, () => dialect.encodeEvent(event)),
    // GetTask and CancelTask return the bare task in every dialect.
    task: (dialect, task) => encodeOnce(tasks, task, dialect.id, () => dialect.encodeResult('GetTask', task)),
    cachedEvent: (dialect, event) => events.get(event)?.get(dialect.id),
    cachedTask: (dialect, task) => tasks.get(task)?.get(dialect.id),
  }
}

function encodeOnce(texts: EncodedTexts, of: object, dialect: string, encode: () => string): Chunk {
  let known = texts.get(of)
  if (known === undefined) texts.set(of, (known = new Map<string, Chunk>()))
  let text = known.get(dialect)
  if (text === undefined) known.set(dialect, (text = encodeChunk(encode())))
  return text
}
