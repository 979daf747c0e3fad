/**
 * What was encoded once is not encoded again: the engine gives every reader the same
 * object, so its JSON can hang on it, one a dialect. A thousand readers of one
 * event then cost one encoding, and a task that nothing happens to is polled for the
 * price of a look-up. A long text is kept as UTF-8, which is what is written, and is
 * written for all its readers without a copy. Both go when the objects go.
 */
import type { Chunk } from '../bindings/http.ts'
import type { StreamEvent, Task } from '../model/task.ts'
import type { Dialect } from '../versions/version.ts'
import { encoded } from './slices.ts'

export interface SharedBytes {
  event(dialect: Dialect, event: StreamEvent): Chunk
  task(dialect: Dialect, task: Task): Chunk
  /** The same if it was encoded before. */
  knownEvent(dialect: Dialect, event: StreamEvent): Chunk | undefined
  knownTask(dialect: Dialect, task: Task): Chunk | undefined
}

type Texts = WeakMap<object, Map<string, Chunk>>

export function createSharedBytes(): SharedBytes {
  const events: Texts = new WeakMap<object, Map<string, Chunk>>()
  const tasks: Texts = new WeakMap<object, Map<string, Chunk>>()
  return {
    event: (dialect, event) => remember(events, event, dialect.id, () => dialect.encodeEvent(event)),
    // GetTask and CancelTask answer the bare task in every dialect.
    task: (dialect, task) => remember(tasks, task, dialect.id, () => dialect.encodeResult('GetTask', task)),
    knownEvent: (dialect, event) => events.get(event)?.get(dialect.id),
    knownTask: (dialect, task) => tasks.get(task)?.get(dialect.id),
  }
}

function remember(texts: Texts, of: object, dialect: string, encode: () => string): Chunk {
  let known = texts.get(of)
  if (known === undefined) texts.set(of, (known = new Map<string, Chunk>()))
  let text = known.get(dialect)
  if (text === undefined) known.set(dialect, (text = encoded(encode())))
  return text
}
