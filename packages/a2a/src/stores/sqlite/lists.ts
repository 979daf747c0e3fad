/**
 * Keyset lists on an index, so that a page costs the same whatever the size of the table. The index has the state before the time:
 * a list of one state reads one range of it, a list of all states merges the ranges of the states that occur.
 */
import type { LogRecord } from '../../model/record.ts'
import { taskStateNumber } from '../../model/state.ts'
import { mightContainBlobs } from '../blobs.ts'
import { limitPageLogs } from '../short-logs.ts'
import type { ListedTask, ListPage, ListQuery, Partition, TaskRow } from '../store.ts'
import type { BlobTable } from './blob-table.ts'
import type { Counters } from './counters.ts'
import type { SqliteDatabase } from './database.ts'
import { addBatchRecords } from './log.ts'
import { type SqliteTaskColumns, sqliteTaskColumns, readSqliteTask } from './rows.ts'
import { type ShortLogColumn, shortLogColumn } from './stored-task.ts'

interface TaskPosition {
  readonly ref: number
  readonly status_at: number
  readonly id: string
}

const endOfTime = Number.MAX_SAFE_INTEGER
/** How many tasks since a time, and before it, are counted in turns. The first is as cheap as a page. */
const countLimits = [1_000, 16_000]

export function createSqliteTaskLists(database: SqliteDatabase, counters: Counters, blobs: BlobTable) {
  const isMine = 'tenant = ? AND agent = ? AND owner = ?'
  const isNext = '(status_at, id) < (?, ?) AND status_at >= ? ORDER BY status_at DESC, id DESC LIMIT ?'
  const byId = database.prepare<SqliteTaskColumns>(`SELECT ${sqliteTaskColumns} FROM tasks WHERE id = ?`)
  const byRef = database.prepare<SqliteTaskColumns & ShortLogColumn>(
    `SELECT ${sqliteTaskColumns}, ${shortLogColumn} FROM tasks WHERE ref = ?`,
  )
  const inState = database.prepare<TaskPosition>(
    `SELECT ref, status_at, id FROM tasks INDEXED BY tasks_list WHERE ${isMine} AND state = ? AND ${isNext}`,
  )
  const countUpTo = (isOnSide: string) =>
    database.prepare<{ count: number }>(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM tasks INDEXED BY tasks_list WHERE ${isMine} AND state = ? AND status_at ${isOnSide} ? LIMIT ?)`,
    )
  const countInState = database.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM tasks INDEXED BY tasks_list WHERE ${isMine} AND state = ? AND status_at >= ?`,
  )
  const countSince = countUpTo('>=')
  const countBefore = countUpTo('<')
  // Named, because SQLite would prefer the index with three equal columns, and read all tasks of a caller.
  const isInContext = `INDEXED BY tasks_context WHERE context_id = ? AND ${isMine}`
  const ofContext = database.prepare<{ state: number; count: number }>(
    `SELECT state, count(*) AS count FROM tasks ${isInContext} AND status_at >= ? GROUP BY state`,
  )
  const inContext = database.prepare<TaskPosition>(
    `SELECT ref, status_at, id FROM tasks ${isInContext} AND coalesce(state = ?, TRUE) AND ${isNext}`,
  )
  const newestInContext = database.prepare<SqliteTaskColumns>(
    `SELECT ${sqliteTaskColumns} FROM tasks ${isInContext} ORDER BY created_at DESC, id DESC LIMIT ?`,
  )

  const rowOf = (columns: SqliteTaskColumns): TaskRow => readSqliteTask(columns, blobs)

  function listed(ref: number, isDecoded: (text: string) => boolean): ListedTask {
    const columns = byRef.get(ref) as SqliteTaskColumns & ShortLogColumn
    const row = rowOf(columns)
    const { records } = columns
    // A file in the log may be large, and most lists do not show it.
    if (records === null || mightContainBlobs(records) || !isDecoded(records)) return row
    const log: LogRecord[] = []
    addBatchRecords(log, 1, records)
    return { ...row, records: log }
  }

  /** The number of matches by state. */
  function countsOf(query: ListQuery): { readonly state: number; readonly count: number }[] {
    const { tenant, agent, owner, contextId, statusAtOrAfter } = query
    if (contextId !== undefined) return ofContext.all(contextId, tenant, agent, owner, statusAtOrAfter ?? -endOfTime)
    const counts = counters.of(query).map(({ state, tasks }) => ({ state, count: tasks }))
    if (statusAtOrAfter === undefined) return counts
    return counts.map(({ state, count }) => ({ state, count: countFrom(query, state, statusAtOrAfter, count) }))
  }

  /**
   * How many of `all` tasks of a state have a time at or after `from`: counted on the side that has fewer, since the total is known.
   * Which one that is shows while they are counted in turns; if both have many, the count reads the newer ones. A million tasks
   * since the beginning took 93 ms. Turns without an end took twice as long for a time in the middle.
   */
  function countFrom({ tenant, agent, owner }: Partition, state: number, from: number, all: number): number {
    for (const limit of countLimits) {
      const since = countSince.get(tenant, agent, owner, state, from, limit)?.count ?? 0
      if (since < limit) return since
      const before = countBefore.get(tenant, agent, owner, state, from, limit)?.count ?? 0
      if (before < limit) return Math.max(0, all - before)
    }
    return countInState.get(tenant, agent, owner, state, from)?.count ?? 0
  }

  function placesOf(query: ListQuery, states: readonly number[]): TaskPosition[] {
    const { tenant, agent, owner, contextId, state, before, statusAtOrAfter = -endOfTime, limit } = query
    const next = [before?.statusAt ?? endOfTime, before?.id ?? '', statusAtOrAfter, limit + 1] as const
    if (contextId !== undefined) {
      return inContext.all(
        contextId,
        tenant,
        agent,
        owner,
        state === undefined ? null : taskStateNumber(state),
        ...next,
      )
    }
    const ranges = states.map((number) => inState.all(tenant, agent, owner, number, ...next))
    return ranges.length === 1
      ? (ranges[0] as TaskPosition[])
      : ranges
          .flat()
          .sort(newestFirst)
          .slice(0, limit + 1)
  }

  function list(query: ListQuery): ListPage {
    const wanted = query.state === undefined ? undefined : taskStateNumber(query.state)
    const counts = countsOf(query).filter(({ state, count }) => count > 0 && (wanted ?? state) === state)
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    if (total === 0) return { tasks: [], more: false, total }
    const places = placesOf(
      query,
      counts.map(({ state }) => state),
    )
    const isDecoded = limitPageLogs()
    const tasks = places.slice(0, query.limit).map(({ ref }) => listed(ref, isDecoded))
    return { tasks, more: places.length > query.limit, total }
  }

  function context({ tenant, agent, owner }: Partition, contextId: string, limit: number): readonly TaskRow[] {
    return newestInContext.all(contextId, tenant, agent, owner, limit).map(rowOf).reverse()
  }

  function load(taskId: string): TaskRow | undefined {
    const columns = byId.get(taskId)
    return columns === undefined ? undefined : rowOf(columns)
  }

  return { list, context, load }
}

/** As SQLite compares texts: by their bytes, which for ids equals the order of their characters. */
function newestFirst(a: TaskPosition, b: TaskPosition): number {
  return b.status_at - a.status_at || (a.id < b.id ? 1 : -1)
}
