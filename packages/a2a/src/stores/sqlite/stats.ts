/**
 * Statistics of the file, from indexes and counters. Statements run on the event loop, so none reads a number of rows that grows
 * with the store beyond the limits of stats-limits.ts.
 */
import { statfs } from 'node:fs/promises'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { maxCountedPushes, maxInspectedAttempts, maxInspectedPushes, waitingStates } from '../stats-limits.ts'
import type { PushBacklog, StoreBytes, StoreStatistics } from '../store.ts'
import type { SqliteContext } from './context.ts'
import type { SqliteTaskLog } from './log.ts'
import type { SqliteTaskSearch } from './search.ts'

interface Count {
  readonly count: number
}

export function createSqliteStats(
  { database, counters }: SqliteContext,
  { search }: Pick<SqliteTaskSearch, 'search'>,
  { feedEnd }: Pick<SqliteTaskLog, 'feedEnd'>,
) {
  const pages = database.prepare<{ page_count: number }>('PRAGMA page_count')
  const pageSize = database.prepare<{ page_size: number }>('PRAGMA page_size')
  const freePages = database.prepare<{ freelist_count: number }>('PRAGMA freelist_count')
  // `ref` grows with every new task.
  const oldest = database.prepare<{ created_at: number }>('SELECT created_at FROM tasks ORDER BY ref LIMIT 1')
  const oldestLeased = database.prepare<{ created_at: number }>(
    `SELECT created_at FROM tasks INDEXED BY tasks_leased
     WHERE holder IS NOT NULL AND finished = 0 ORDER BY created_at, id LIMIT 1`,
  )
  // Only active cursors have a due time.
  const countBehind = database.prepare<Count>(
    'SELECT count(*) AS count FROM (SELECT 1 FROM pushes WHERE due_at IS NOT NULL LIMIT ?)',
  )
  const countDue = database.prepare<Count>(
    'SELECT count(*) AS count FROM (SELECT 1 FROM pushes WHERE due_at IS NOT NULL AND due_at <= ? LIMIT ?)',
  )
  const countDead = database.prepare<Count>(
    "SELECT count(*) AS count FROM (SELECT 1 FROM pushes WHERE state = 'dead' LIMIT ?)",
  )
  const waitingSince = (direction: 'ASC' | 'DESC') =>
    database.prepare<{ since: number | null }>(`
      SELECT min(coalesce((
        SELECT min(at) FROM (
          SELECT at, seq FROM push_attempts
          WHERE task = behind.task AND push_id = behind.id ORDER BY ref DESC LIMIT ${maxInspectedAttempts})
        WHERE seq > behind.delivered_seq AND behind.attempt > 0), due_at)) AS since
      FROM (
        SELECT task, id, delivered_seq, attempt, due_at FROM pushes
        WHERE due_at IS NOT NULL ORDER BY due_at ${direction} LIMIT ${maxInspectedPushes / 2}) AS behind`)
  const firstDue = waitingSince('ASC')
  const lastDue = waitingSince('DESC')

  function backlog(steadyNow: number): PushBacklog {
    const behind = countBehind.get(maxCountedPushes)?.count ?? 0
    const since = behind === 0 ? [] : [firstDue.get()?.since, lastDue.get()?.since]
    const known = since.filter((at): at is number => typeof at === 'number')
    return {
      behind,
      due: behind === 0 ? 0 : (countDue.get(steadyNow, maxCountedPushes)?.count ?? 0),
      dead: countDead.get(maxCountedPushes)?.count ?? 0,
      ...(known.length === 0 ? {} : { oldestAt: Math.min(...known) }),
    }
  }

  function storedBytes(): StoreBytes {
    const size = pageSize.get()?.page_size ?? 0
    const reusable = (freePages.get()?.freelist_count ?? 0) * size
    const { path } = database
    if (path === null) return { database: (pages.get()?.page_count ?? 0) * size, reusable }
    return { database: fileBytes(path), wal: fileBytes(`${path}-wal`), reusable }
  }

  return {
    /** `steadyNow` is the time by which due times are stored. */
    read(steadyNow: number): StoreStatistics {
      const first = oldest.get()
      // Not a search of all unfinished tasks: it reads a range per caller with a running task, and took 40 ms for 1,000 of them.
      const [waiting] = search({ states: waitingStates, order: 'oldest', limit: 1 }).tasks
      const unfinished = [oldestLeased.get()?.created_at, waiting?.statusAt].filter((at) => at !== undefined)
      return {
        bytes: storedBytes(),
        tasks: counters.total(),
        ...(first === undefined ? {} : { oldestTaskAt: first.created_at }),
        ...(unfinished.length === 0 ? {} : { oldestUnfinishedAt: Math.min(...unfinished) }),
        push: backlog(steadyNow),
        position: feedEnd(),
      }
    },
    /** Not on the event loop: a network disk may take long. */
    async diskFree(): Promise<number | undefined> {
      if (database.path === null) return undefined
      const disk = await statfs(dirname(database.path)).catch(() => undefined)
      return disk === undefined ? undefined : disk.bavail * disk.bsize
    },
  }
}

function fileBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
