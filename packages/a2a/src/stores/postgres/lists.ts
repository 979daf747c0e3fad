/**
 * Keyset lists on an index, so that a page costs the same whatever the size of the table. The index has the state before the time:
 * a list of one state reads one range of it, a list of all states merges one range per state.
 */
import { isTerminal, taskStateNumber, taskStates } from '../../model/state.ts'
import type { LogRecord } from '../../model/record.ts'
import { mightContainBlobs } from '../blobs.ts'
import { withOrderedTimes } from '../decide-append.ts'
import { limitPageLogs, maxShortLogBytes } from '../short-logs.ts'
import type { Append, ListedTask, ListPage, ListQuery, Partition, StateCount, TaskRow } from '../store.ts'
import type { PostgresBlobs } from './blob-content.ts'
import type { PostgresDatabase } from './database.ts'
import { encodeText } from './text-encoding.ts'
import { ownerKey, partitionKey } from './append-row.ts'
import { type PostgresTaskColumns, postgresTaskColumns, readPostgresTask } from './rows.ts'

const endOfTime = Number.MAX_SAFE_INTEGER
/** Tasks since a time, and before it, are counted up to these limits, then without one: see `countFrom`. */
const countLimits = [1_000, 16_000]
/** A log of more rows is not read with its task. */
const maxLogRows = 256
const active = taskStates.filter((state) => !isTerminal(state)).map(taskStateNumber)

interface ShortLogColumn {
  /** The whole log of a task as JSON, if it is short. */
  readonly log: string | null
}

export function createPostgresTaskLists(database: PostgresDatabase, schema: string, blobs: PostgresBlobs) {
  const newestFirst = 'ORDER BY t.status_at DESC, t.id DESC'
  const isNext = '(t.status_at, t.id) < ($3, $4) AND t.status_at >= $5'
  const inContext = `hashtextextended(t.context_id, 0) = hashtextextended($7, 0) AND t.context_id = $7`
  // The rows of each short log as JSON: pairs of `not_before` and the records. A long text is not loaded for its length.
  const withLogs = (page: string): string => `
    SELECT t.*, short.log FROM (${page}) AS t LEFT JOIN LATERAL (
      SELECT '[' || string_agg('[' || coalesce(l.not_before, 0) || ',' || l.records || ']', ',' ORDER BY l.last_seq)
        FILTER (WHERE l.bytes <= ${maxShortLogBytes}) || ']' AS log
      FROM (
        SELECT l.*, sum(octet_length(l.records)) OVER () AS bytes FROM (
          SELECT l.first_seq, l.last_seq, l.not_before, l.records FROM ${schema}.log AS l
          WHERE l.task = t.ref ORDER BY l.last_seq LIMIT ${maxLogRows}
        ) AS l
      ) AS l HAVING min(l.first_seq) = 1 AND max(l.last_seq) = t.head
    ) AS short ON true ${newestFirst}`
  const byState = withLogs(`
    SELECT t.* FROM unnest($2::smallint[]) AS wanted CROSS JOIN LATERAL (
      SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t
      WHERE t.partition_key = $1 AND t.state = wanted AND ${isNext} ${newestFirst} LIMIT $6
    ) AS t ${newestFirst} LIMIT $6`)
  const byContext = withLogs(`
    SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t
    WHERE ${inContext} AND t.partition_key = $1 AND t.state = ANY ($2::smallint[]) AND ${isNext} ${newestFirst} LIMIT $6`)
  const newestOfContext = `
    SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t
    WHERE hashtextextended(t.context_id, 0) = hashtextextended($2, 0) AND t.context_id = $2 AND t.partition_key = $1
    ORDER BY t.created_at DESC, t.id DESC LIMIT $3`
  const sum = `
    SELECT coalesce(sum(tasks), 0) AS total FROM ${schema}.counters
    WHERE owner_key = $1 AND partition_key = $2 AND state = ANY ($3::smallint[])`
  const sumOfOwner = `
    SELECT coalesce(sum(tasks), 0) AS total FROM ${schema}.counters WHERE owner_key = $1 AND state = ANY ($2::smallint[])`
  const byStates = `SELECT state, sum(tasks) AS total FROM ${schema}.counters GROUP BY state HAVING sum(tasks) > 0`
  const isOfStates = 't.partition_key = $1 AND t.state = ANY ($2::smallint[])'
  const count = `
    SELECT count(*) AS total FROM ${schema}.tasks AS t WHERE ${isOfStates} AND t.status_at >= $3`
  const countUpTo = (isOnSide: string): string => `(
    SELECT count(*) FROM (
      SELECT FROM ${schema}.tasks AS t WHERE ${isOfStates} AND t.status_at ${isOnSide} $3 LIMIT $5) AS t)`
  // In one statement, so that all three see the same tasks.
  const countSides = `
    SELECT ${countUpTo('>=')} AS since, ${countUpTo('<')} AS before, coalesce(sum(tasks), 0) AS total
    FROM ${schema}.counters WHERE partition_key = $1 AND state = ANY ($2::smallint[]) AND owner_key = $4`
  const countInContext = `
    ${count} AND hashtextextended(t.context_id, 0) = hashtextextended($4, 0) AND t.context_id = $4`

  const rowsOf = (rows: readonly PostgresTaskColumns[]): Promise<TaskRow[]> =>
    Promise.all(rows.map((row) => readPostgresTask(row, blobs)))

  async function listed(
    columns: PostgresTaskColumns & ShortLogColumn,
    isDecoded: (text: string) => boolean,
  ): Promise<ListedTask> {
    const row = await readPostgresTask(columns, blobs)
    const { log } = columns
    // A file in the log may be large, and most lists do not show it.
    if (log === null || mightContainBlobs(log) || !isDecoded(log)) return row
    return { ...row, records: recordsOfLog(log) }
  }

  /**
   * How many tasks have a time at or after `from`: counted on the side that has fewer, since the number of all is known. If both have
   * many, the newer ones are counted. Of 100,000 tasks nearly all were newer: 40 to 84 ms, and so 1.
   */
  async function countFrom(query: ListQuery, states: readonly number[], from: number): Promise<number> {
    const partition = partitionKey(query)
    for (const limit of countLimits) {
      const [sides] = await database.queryWithRetry<{ since: unknown; before: unknown; total: unknown }>(
        countSides,
        partition,
        states,
        from,
        ownerKey(query.tenant, query.owner),
        limit,
      )
      if (Number(sides?.since) < limit) return Number(sides?.since)
      if (Number(sides?.before) < limit) return Number(sides?.total) - Number(sides?.before)
    }
    const [row] = await database.queryWithRetry<{ total: unknown }>(count, partition, states, from)
    return Number(row?.total ?? 0)
  }

  async function totalOf(query: ListQuery, states: readonly number[]): Promise<number> {
    const { tenant, owner, contextId, statusAtOrAfter } = query
    const partition = partitionKey(query)
    if (contextId === undefined && statusAtOrAfter !== undefined) return countFrom(query, states, statusAtOrAfter)
    const from = statusAtOrAfter ?? -endOfTime
    const [row] = await (contextId === undefined
      ? database.queryWithRetry<{ total: unknown }>(sum, ownerKey(tenant, owner), partition, states)
      : database.queryWithRetry<{ total: unknown }>(countInContext, partition, states, from, encodeText(contextId)))
    return Number(row?.total ?? 0)
  }

  function pageOf(
    query: ListQuery,
    states: readonly number[],
  ): Promise<readonly (PostgresTaskColumns & ShortLogColumn)[]> {
    const { contextId, before, statusAtOrAfter, limit } = query
    const place = [before?.statusAt ?? endOfTime, encodeText(before?.id ?? ''), statusAtOrAfter ?? -endOfTime] as const
    const values = [partitionKey(query), states, ...place, limit + 1]
    if (contextId !== undefined) return database.queryWithRetry(byContext, ...values, encodeText(contextId))
    return database.queryWithRetry(byState, ...values)
  }

  return {
    async list(query: ListQuery): Promise<ListPage> {
      const states = (query.state === undefined ? taskStates : [query.state]).map(taskStateNumber)
      const [total, rows] = await Promise.all([totalOf(query, states), pageOf(query, states)])
      const isDecoded = limitPageLogs()
      const tasks = await Promise.all(rows.slice(0, query.limit).map((row) => listed(row, isDecoded)))
      return { tasks, more: rows.length > query.limit, total }
    },
    async context(partition: Partition, contextId: string, limit: number): Promise<readonly TaskRow[]> {
      const rows = await database.queryWithRetry<PostgresTaskColumns>(
        newestOfContext,
        partitionKey(partition),
        encodeText(contextId),
        limit,
      )
      return rowsOf([...rows].reverse())
    },
    async countActive(tenant: string, owner: string): Promise<number> {
      const [row] = await database.queryWithRetry<{ total: unknown }>(sumOfOwner, ownerKey(tenant, owner), active)
      return Number(row?.total ?? 0)
    },
    async countStates(): Promise<readonly StateCount[]> {
      const rows = await database.queryWithRetry<{ state: number; total: unknown }>(byStates)
      return rows.map(({ state, total }) => ({
        state: taskStates[state] ?? 'TASK_STATE_UNSPECIFIED',
        tasks: Number(total),
      }))
    },
  }
}

function recordsOfLog(log: string): readonly LogRecord[] {
  const batches = JSON.parse(log) as (readonly [notBefore: number, records: Append['records']])[]
  return batches
    .flatMap(([notBefore, records]) => withOrderedTimes(records, notBefore))
    .map(({ at, body }, index) => ({ seq: index + 1, at, body }))
}
