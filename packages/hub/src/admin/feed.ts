/**
 * What changed since a place, for the console and whoever else follows: a place is a position in the store's feed and one in
 * the journal, so it means the same after a restart and at another replica. Many changes of one task are one; all who are at
 * the same place share one look; and who is too far behind is told to look at everything anew.
 */
import type { FeedEntry, Store, TaskRow } from '@parley/a2a'
import type { Change, Journal } from './journal.ts'
import { firstText } from './task-view.ts'

export interface Place {
  readonly feed: number
  readonly journal: number
}

export type News =
  /** Of one that is new, what it began with. */
  | { readonly type: 'task'; readonly row: TaskRow; readonly title?: string }
  /** So many that they are not told one by one. */
  | { readonly type: 'tasks'; readonly count: number }
  | Change
  /** Something was missed. */
  | { readonly type: 'reset' }

export interface Tidings {
  readonly news: readonly News[]
  readonly place: Place
  /** Whether there is more to be had at once. */
  readonly hasMore: boolean
}

export interface Feed {
  end(): Promise<Place>
  /** Whether everything since the place can still be told. */
  reaches(place: Place): Promise<boolean>
  after(place: Place): Promise<Tidings>
}

export interface FeedParts {
  readonly store: Pick<Store, 'feed' | 'feedEnd' | 'load' | 'read' | 'loadSnapshot'>
  readonly journal: Pick<Journal, 'end' | 'reaches' | 'after'>
}

/** Appends that one look takes in. */
const pageSize = 500
/** Tasks that are told one by one. */
const mostTasks = 100
/** Appends that are caught up with; who missed more looks anew. */
const furthest = 5_000

export function createFeed({ store, journal }: FeedParts): Feed {
  const looks = new Map<string, Promise<Tidings>>()

  async function look({ feed, journal: at }: Place): Promise<Tidings> {
    const [entries, page] = await Promise.all([store.feed(feed, pageSize), journal.after(at)])
    const place = { feed: entries.at(-1)?.position ?? feed, journal: page.at }
    return { news: [...(await tasksIn(entries)), ...page.changes], place, hasMore: entries.length === pageSize }
  }

  async function tasksIn(entries: readonly FeedEntry[]): Promise<readonly News[]> {
    const ids = [...new Set(entries.map(({ taskId }) => taskId))]
    if (ids.length > mostTasks) return [{ type: 'tasks', count: ids.length }]
    const fresh = new Set(entries.filter(({ firstSeq }) => firstSeq === 1).map(({ taskId }) => taskId))
    const found = await Promise.all(
      ids.map(async (id): Promise<readonly News[]> => {
        const [row, title] = await Promise.all([store.load(id), fresh.has(id) ? firstText(store, id) : undefined])
        return row === undefined ? [] : [{ type: 'task', row, ...(title !== undefined ? { title } : {}) }]
      }),
    )
    return found.flat()
  }

  return {
    end: async () => ({ feed: await store.feedEnd(), journal: await journal.end() }),
    async reaches({ feed, journal: at }) {
      const end = await store.feedEnd()
      // Of a store that was emptied, or of another one.
      if (feed > end || !(await journal.reaches(at))) return false
      if (end === feed) return true
      const [far] = await store.feed(feed, furthest).then((entries) => entries.slice(furthest - 1))
      return far === undefined
    },
    after(place) {
      const key = `${place.feed} ${place.journal}`
      let looking = looks.get(key)
      if (looking === undefined) {
        looking = look(place).finally(() => looks.delete(key))
        looks.set(key, looking)
      }
      return looking
    },
  }
}

export function writePlace({ feed, journal }: Place): string {
  return `${feed}-${journal}`
}

export function readPlace(text: string | undefined): Place | undefined {
  const [, feed, journal] = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? '') ?? []
  return feed === undefined || journal === undefined ? undefined : { feed: Number(feed), journal: Number(journal) }
}
