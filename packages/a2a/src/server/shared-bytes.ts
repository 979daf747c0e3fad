/**
 * What was encoded once is not encoded again: the engine gives every reader the same
 * object, so its JSON can hang on it, one text a dialect. A thousand readers of one
 * event then cost one encoding, and a task that nothing happens to is polled for the
 * price of a look-up. The texts go when the objects go.
 */
import type { StreamEvent, Task } from '../model/task.ts'
import type { Dialect } from '../versions/version.ts'

export interface SharedBytes {
  event(dialect: Dialect, event: StreamEvent): string
  task(dialect: Dialect, task: Task): string
}

export function createSharedBytes(): SharedBytes {
  const events = new WeakMap<object, Map<string, string>>()
  const tasks = new WeakMap<object, Map<string, string>>()
  return {
    event: (dialect, event) => remember(events, event, dialect.id, () => dialect.encodeEvent(event)),
    // GetTask and CancelTask answer the bare task in every dialect.
    task: (dialect, task) => remember(tasks, task, dialect.id, () => dialect.encodeResult('GetTask', task)),
  }
}

function remember(
  texts: WeakMap<object, Map<string, string>>,
  of: object,
  dialect: string,
  encode: () => string,
): string {
  let known = texts.get(of)
  if (known === undefined) texts.set(of, (known = new Map<string, string>()))
  let text = known.get(dialect)
  if (text === undefined) known.set(dialect, (text = encode()))
  return text
}
