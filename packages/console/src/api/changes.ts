/**
 * The stream of changes as it is read: what each event means, and where to go on after the line was cut. Pure, so that a
 * restart of the hub can be played through without one.
 */
import type { TaskSummary } from './admin.ts'
import { createSseReader } from './sse-reader.ts'

export type Change =
  | { readonly type: 'task'; readonly task: TaskSummary }
  /** So many at once that they are not told one by one. */
  | { readonly type: 'tasks'; readonly count: number }
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'config' }
  | { readonly type: 'push'; readonly taskId: string; readonly configId: string }
  /** Something was missed: everything is to be looked at anew. */
  | { readonly type: 'reset' }

/** What the hub says of itself; the instance is another one after each restart. */
export interface HubSelf {
  readonly instance: string
  readonly version: string
}

export interface ChangeReader {
  /** A new line to the hub: what was cut off before belongs to nothing. */
  begin(): void
  read(piece: string): readonly Change[]
  /** All up to this one were read. */
  lastEventId(): string
  hub(): HubSelf | undefined
}

/** Begins where another left off, if there was one. */
export function createChangeReader(
  from: { readonly cursor: string; readonly hub?: HubSelf | undefined } = { cursor: '' },
): ChangeReader {
  let { cursor, hub: self } = from
  let split = createSseReader()

  function ready({ instance, version }: HubSelf): readonly Change[] {
    const isAnother = self !== undefined && self.instance !== instance
    self = { instance, version }
    // The file may have been edited while the hub was down.
    return isAnother ? [{ type: 'config' }] : []
  }

  function changesOf(event: string, data: string): readonly Change[] {
    const told = JSON.parse(data) as never
    switch (event) {
      case 'ready':
        return ready(told)
      case 'task':
        return [{ type: 'task', task: told }]
      case 'tasks':
      case 'agent':
      case 'config':
      case 'push':
      case 'reset':
        return [{ type: event, ...(told as object) } as Change]
      default:
        // Of a newer hub than this page is.
        return []
    }
  }

  return {
    begin() {
      split = createSseReader()
    },
    read: (piece) =>
      split(piece).flatMap(({ event, data, id }) => {
        const changes = changesOf(event, data)
        if (id !== undefined) cursor = id
        return changes
      }),
    lastEventId: () => cursor,
    hub: () => self,
  }
}
