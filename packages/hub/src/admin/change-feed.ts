/**
 * Changes after a cursor, for the console and other readers. A cursor is a position in the store's feed and one in the journal, so
 * it is valid after a restart and at other replicas. Many changes of one task become one. Readers at the same cursor share one
 * query. A reader that is too far behind gets a reset and reloads everything.
 */
import { hasSettled } from '@parley/a2a/internal'
import type { FeedEntry, FullStore, TaskRow } from '@parley/a2a/stores'
import type { JournalChange, ChangeJournal } from './change-journal.ts'
import type { TaskFacts, TaskFactsReader } from './task-facts.ts'

export interface FeedCursor {
  readonly feed: number
  readonly journal: number
}

export type ChangeEvent =
  /** With the facts of a task that is new, has ended or waits for its caller. */
  | { readonly type: 'task'; readonly row: TaskRow; readonly facts?: TaskFacts }
  /** Too many changed tasks to list one by one. */
  | { readonly type: 'tasks'; readonly count: number }
  | JournalChange
  /** Changes were missed. */
  | { readonly type: 'reset' }

export interface ChangePage {
  readonly events: readonly ChangeEvent[]
  readonly cursor: FeedCursor
  /** Whether more changes are available at once. */
  readonly hasMore: boolean
}

export interface ChangeFeed {
  end(): Promise<FeedCursor>
  /** Whether all changes since the cursor are still available. */
  canResume(cursor: FeedCursor): Promise<boolean>
  after(cursor: FeedCursor): Promise<ChangePage>
}

export interface ChangeFeedDeps {
  readonly store: Pick<FullStore, 'feed' | 'tasks'>
  readonly facts: TaskFactsReader
  readonly journal: Pick<ChangeJournal, 'end' | 'canResume' | 'after'>
}

/** Appends read by one query. */
const pageSize = 500
/** Tasks listed one by one. */
const maxTasks = 100
/** Maximum backlog of appends; a reader that missed more reloads everything. */
const maxBacklog = 5_000

export function createChangeFeed({ store, facts, journal }: ChangeFeedDeps): ChangeFeed {
  const reads = new Map<string, Promise<ChangePage>>()

  async function read({ feed, journal: at }: FeedCursor): Promise<ChangePage> {
    const [entries, page] = await Promise.all([store.feed.read(feed, pageSize), journal.after(at)])
    const cursor = { feed: entries.at(-1)?.position ?? feed, journal: page.at }
    return { events: [...(await tasksIn(entries)), ...page.changes], cursor, hasMore: entries.length === pageSize }
  }

  async function tasksIn(entries: readonly FeedEntry[]): Promise<readonly ChangeEvent[]> {
    const ids = [...new Set(entries.map(({ taskId }) => taskId))]
    if (ids.length > maxTasks) return [{ type: 'tasks', count: ids.length }]
    const newTasks = new Set(entries.filter(({ firstSeq }) => firstSeq === 1).map(({ taskId }) => taskId))
    const found = await Promise.all(
      ids.map(async (id): Promise<readonly ChangeEvent[]> => {
        const row = await store.tasks.load(id)
        if (row === undefined) return []
        const isRead = newTasks.has(id) || hasSettled(row.status.state)
        return [{ type: 'task', row, ...(isRead ? { facts: await facts.read(row) } : {}) }]
      }),
    )
    return found.flat()
  }

  return {
    end: async () => ({ feed: await store.feed.end(), journal: await journal.end() }),
    async canResume({ feed, journal: at }) {
      const end = await store.feed.end()
      // A cursor of a store that was emptied, or of another store.
      if (feed > end || !(await journal.canResume(at))) return false
      if (end === feed) return true
      const [beyond] = await store.feed.read(feed, maxBacklog).then((entries) => entries.slice(maxBacklog - 1))
      return beyond === undefined
    },
    after(cursor) {
      const key = `${cursor.feed} ${cursor.journal}`
      let reading = reads.get(key)
      if (reading === undefined) {
        reading = read(cursor).finally(() => reads.delete(key))
        reads.set(key, reading)
      }
      return reading
    },
  }
}

export function formatFeedCursor({ feed, journal }: FeedCursor): string {
  return `${feed}-${journal}`
}

export function parseFeedCursor(text: string | undefined): FeedCursor | undefined {
  const [, feed, journal] = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '') ?? []
  return feed === undefined || journal === undefined ? undefined : { feed: Number(feed), journal: Number(journal) }
}
