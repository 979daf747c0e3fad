/**
 * Keyset lists on an index, so that a page costs the same whatever the size of the table. The index has the state before the time:
 * a list of one state reads one range of it, a list of all states merges one range per state.
 */
import { isTerminal, taskStateNumber, taskStates } from '../../model/state.ts'
import type { ListPage, ListQuery, Partition, StateCount, TaskRow } from '../store.ts'
import type { PostgresBlobs } from './blob-content.ts'
import type { PostgresDatabase } from './database.ts'
import { encodeText } from './text-encoding.ts'
import { ownerKey, partitionKey } from './append-row.ts'
import { type PostgresTaskColumns, postgresTaskColumns, readPostgresTask } from './rows.ts'

const endOfTime = Number.MAX_SAFE_INTEGER
const active = taskStates.filter((state) => !isTerminal(state)).map(taskStateNumber)

export type PostgresTaskLists = ReturnType<typeof createPostgresTaskLists>

export function createPostgresTaskLists(database: PostgresDatabase, schema: string, blobs: PostgresBlobs) {
  const newestFirst = 'ORDER BY t.status_at DESC, t.id DESC'
  const isNext = '(t.status_at, t.id) < ($3, $4) AND t.status_at >= $5'
  const inContext = `hashtextextended(t.context_id, 0) = hashtextextended($7, 0) AND t.context_id = $7`
  const byState = `
    SELECT t.* FROM unnest($2::smallint[]) AS wanted CROSS JOIN LATERAL (
      SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t
      WHERE t.partition_key = $1 AND t.state = wanted AND ${isNext} ${newestFirst} LIMIT $6
    ) AS t ${newestFirst} LIMIT $6`
  const byContext = `
    SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t
    WHERE ${inContext} AND t.partition_key = $1 AND t.state = ANY ($2::smallint[]) AND ${isNext} ${newestFirst} LIMIT $6`
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
  const count = `
    SELECT count(*) AS total FROM ${schema}.tasks AS t
    WHERE t.partition_key = $1 AND t.state = ANY ($2::smallint[]) AND t.status_at >= $3`
  const countInContext = `
    ${count} AND hashtextextended(t.context_id, 0) = hashtextextended($4, 0) AND t.context_id = $4`

  const rowsOf = (rows: readonly PostgresTaskColumns[]): Promise<TaskRow[]> =>
    Promise.all(rows.map((row) => readPostgresTask(row, blobs)))

  async function totalOf(query: ListQuery, states: readonly number[]): Promise<number> {
    const { tenant, owner, contextId, statusAtOrAfter } = query
    const partition = partitionKey(query)
    const from = statusAtOrAfter ?? -endOfTime
    const total =
      contextId !== undefined
        ? database.queryWithRetry<{ total: unknown }>(countInContext, partition, states, from, encodeText(contextId))
        : statusAtOrAfter !== undefined
          ? database.queryWithRetry<{ total: unknown }>(count, partition, states, from)
          : database.queryWithRetry<{ total: unknown }>(sum, ownerKey(tenant, owner), partition, states)
    return Number((await total)[0]?.total ?? 0)
  }

  function pageOf(query: ListQuery, states: readonly number[]): Promise<readonly PostgresTaskColumns[]> {
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
      const tasks = await rowsOf(rows.slice(0, query.limit))
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
