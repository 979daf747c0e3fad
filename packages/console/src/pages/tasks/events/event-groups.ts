/** The rows of the log: consecutive chunks of one artifact are one row, which can be expanded. */
import type { LogRecord } from '../../../api/admin.ts'
import { recordBody } from './fold-events.ts'

export interface ChunkGroup {
  readonly kind: 'chunks'
  /** Stays the same while the group grows. */
  readonly key: string
  readonly first: LogRecord
  readonly last: LogRecord
  readonly count: number
  readonly bytes: number
  readonly isOpen: boolean
}

export interface EventItem {
  readonly kind: 'event'
  readonly key: string
  readonly event: LogRecord
  readonly isInGroup: boolean
}

export type EventListItem = ChunkGroup | EventItem

/** Fewer are as easy to read one by one. */
const minChunks = 4

export interface FoldOptions {
  /** Groups that the user has expanded. */
  readonly expanded: ReadonlySet<string>
  /** The group of this event is expanded, too. */
  readonly selected?: number | undefined
}

export function foldChunks(
  events: readonly LogRecord[],
  { expanded, selected }: FoldOptions,
): readonly EventListItem[] {
  const items: EventListItem[] = []
  for (let at = 0; at < events.length;) {
    const end = chunksEnd(events, at)
    const [first, last] = [events[at], events[end - 1]]
    if (first === undefined || last === undefined) break
    if (end - at < minChunks) {
      for (const event of events.slice(at, end)) items.push(eventItem(event, false))
    } else {
      const key = `chunks ${first.seq}`
      const isSelected = selected !== undefined && first.seq <= selected && selected <= last.seq
      const isOpen = expanded.has(key) || isSelected
      let bytes = 0
      for (let index = at; index < end; index += 1) bytes += events[index]?.bytes ?? 0
      items.push({ kind: 'chunks', key, first, last, count: end - at, bytes, isOpen })
      if (isOpen) for (let index = at; index < end; index += 1) items.push(eventItem(events[index] as LogRecord, true))
    }
    at = end
  }
  return items
}

export function eventItem(event: LogRecord, isInGroup: boolean): EventItem {
  return { kind: 'event', key: String(event.seq), event, isInGroup }
}

/** The index after the last of the chunks that begin here. */
function chunksEnd(events: readonly LogRecord[], at: number): number {
  const artifact = artifactIdOf(events[at])
  let end = at + 1
  if (artifact !== undefined) while (end < events.length && artifactIdOf(events[end]) === artifact) end += 1
  return end
}

function artifactIdOf(record: LogRecord | undefined): string | undefined {
  const body = record === undefined ? undefined : recordBody(record)
  return body?.type === 'artifact' ? body.artifact.artifactId : undefined
}
