/** Where an event stands in its log, as our cursor extension writes it into the event's metadata. */
import { cursorExtension } from '../../model/extension.ts'
import type { StreamEvent, Struct } from '../../model/task.ts'

export interface Placed {
  readonly event: StreamEvent
  readonly id: string | undefined
}

/** Takes the mark out again, unless it is wanted there, so that an event is the same over every binding. */
export function takeCursor(event: StreamEvent, keepsMark: boolean): Placed {
  if ('task' in event) return placed(event.task, keepsMark, (task) => ({ task }))
  if ('statusUpdate' in event) return placed(event.statusUpdate, keepsMark, (statusUpdate) => ({ statusUpdate }))
  if ('artifactUpdate' in event) {
    return placed(event.artifactUpdate, keepsMark, (artifactUpdate) => ({ artifactUpdate }))
  }
  return { event, id: undefined }
}

function placed<T extends { readonly metadata?: Struct }>(
  of: T,
  keepsMark: boolean,
  wrap: (of: T) => StreamEvent,
): Placed {
  const mark = of.metadata?.[cursorExtension]
  const cursor = typeof mark === 'object' && mark !== null && 'cursor' in mark ? mark['cursor'] : undefined
  const id = typeof cursor === 'string' ? cursor : undefined
  // A gap is news that nothing else tells.
  const hasGap = typeof mark === 'object' && mark !== null && 'gap' in mark
  if (id === undefined || keepsMark || hasGap) return { event: wrap(of), id }
  const { [cursorExtension]: _mark, ...others } = of.metadata as Struct
  const { metadata: _metadata, ...bare } = of
  const plain = Object.keys(others).length > 0 ? { ...bare, metadata: others } : bare
  return { event: wrap(plain as T), id }
}
