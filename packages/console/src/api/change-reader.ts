/**
 * Parses the change feed: what each event means, and where to resume after the connection breaks. Pure, so that a restart of the
 * hub can be tested without a hub.
 */
import type { TaskSummary } from './admin.ts'
import { createSseReader } from './sse-reader.ts'

export type Change =
  | { readonly type: 'task'; readonly task: TaskSummary }
  /** So many changes at once that they are not listed one by one. */
  | { readonly type: 'tasks'; readonly count: number }
  | { readonly type: 'agent'; readonly agent: string }
  | { readonly type: 'config' }
  | { readonly type: 'push'; readonly taskId: string; readonly configId: string }
  /** Changes were missed: reload everything. */
  | { readonly type: 'reset' }

/** What the hub reports about itself. The instance changes with each restart. */
export interface HubInstance {
  readonly instance: string
  readonly version: string
  /** Of costs. */
  readonly currency?: string
}

export interface ChangeReader {
  /** Starts a new connection and discards a partial event of the previous one. */
  startConnection(): void
  read(chunk: string): readonly Change[]
  /** Id of the last event that was read completely. */
  lastEventId(): string
  hub(): HubInstance | undefined
}

/** Resumes after the cursor of another reader, if one is given. */
export function createChangeReader(
  from: { readonly cursor: string; readonly hub?: HubInstance | undefined } = { cursor: '' },
): ChangeReader {
  let { cursor, hub: self } = from
  let split = createSseReader()

  function onReady({ instance, version, currency }: HubInstance): readonly Change[] {
    const hasRestarted = self !== undefined && self.instance !== instance
    self = { instance, version, ...(currency === undefined ? {} : { currency }) }
    // The file may have been edited while the hub was down.
    return hasRestarted ? [{ type: 'config' }] : []
  }

  function changesOf(event: string, data: string): readonly Change[] {
    const payload = JSON.parse(data) as never
    switch (event) {
      case 'ready':
        return onReady(payload)
      case 'task':
        return [{ type: 'task', task: payload }]
      case 'tasks':
      case 'agent':
      case 'config':
      case 'push':
      case 'reset':
        return [{ type: event, ...(payload as object) } as Change]
      default:
        // An event type of a hub newer than this page.
        return []
    }
  }

  return {
    startConnection() {
      split = createSseReader()
    },
    read: (chunk) =>
      split(chunk).flatMap(({ event, data, id }) => {
        const changes = changesOf(event, data)
        if (id !== undefined) cursor = id
        return changes
      }),
    lastEventId: () => cursor,
    hub: () => self,
  }
}
