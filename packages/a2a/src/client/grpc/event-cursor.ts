/** Reads the position of an event in its log, which our cursor extension writes into the event's metadata. */
import { cursorExtension } from '../../model/extension.ts'
import type { StreamEvent, Struct } from '../../model/task.ts'

export interface EventWithCursor {
  readonly event: StreamEvent
  readonly id: string | undefined
}

/**
 * Removes the cursor from the metadata, unless the caller requested it there, so that events are the same over every binding.
 */
export function extractCursor(event: StreamEvent, keepsCursor: boolean): EventWithCursor {
  if ('task' in event) return extractFrom(event.task, keepsCursor, (task) => ({ task }))
  if ('statusUpdate' in event) return extractFrom(event.statusUpdate, keepsCursor, (statusUpdate) => ({ statusUpdate }))
  if ('artifactUpdate' in event) {
    return extractFrom(event.artifactUpdate, keepsCursor, (artifactUpdate) => ({ artifactUpdate }))
  }
  return { event, id: undefined }
}

function extractFrom<T extends { readonly metadata?: Struct }>(
  of: T,
  keepsCursor: boolean,
  wrap: (of: T) => StreamEvent,
): EventWithCursor {
  const mark = of.metadata?.[cursorExtension]
  const cursor = typeof mark === 'object' && mark !== null && 'cursor' in mark ? mark['cursor'] : undefined
  const id = typeof cursor === 'string' ? cursor : undefined
  // A gap is reported nowhere else.
  const hasGap = typeof mark === 'object' && mark !== null && 'gap' in mark
  if (id === undefined || keepsCursor || hasGap) return { event: wrap(of), id }
  const { [cursorExtension]: _mark, ...others } = of.metadata as Struct
  const { metadata: _metadata, ...bare } = of
  const plain = Object.keys(others).length > 0 ? { ...bare, metadata: others } : bare
  return { event: wrap(plain as T), id }
}
