/**
 * Tasks of all owners, by keyset on indexes: the cost of a page depends on its length and on the number of agents and states, not
 * on the number of tasks.
 */
import { isTerminal, taskStateNumber, taskStates } from '../../model/state.ts'
import type { AgentCount, SearchPage, SearchQuery, TaskRow } from '../store.ts'
import type { PostgresBlobs } from './blob-content.ts'
import type { PostgresDatabase } from './database.ts'
import { decodeText, encodeText } from './text-encoding.ts'
import { type PostgresTaskColumns, postgresTaskColumns, readPostgresTask } from './rows.ts'

const endOfTime = Number.MAX_SAFE_INTEGER
const unfinished = taskStates.filter((state) => !isTerminal(state)).map(taskStateNumber)
const working = (['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'] as const).map(taskStateNumber)

export type PostgresTaskSearch = ReturnType<typeof createPostgresTaskSearch>

export function createPostgresTaskSearch(database: PostgresDatabase, schema: string, blobs: PostgresBlobs) {
  const agentHash = 'hashtextextended(t.agent, 0)'
  // The condition of the partial indexes.
  const isIndexed = 't.state NOT IN (1, 2)'
  const isWanted = 't.state = ANY ($5::smallint[]) AND ($6::text IS NULL OR t.agent = $6)'
  // Steps from one agent and state to the next, and skips the tasks between them.
  const pairs = `
    WITH RECURSIVE pair AS (
      (SELECT ${agentHash} AS agent, t.state FROM ${schema}.tasks AS t
        WHERE ${isIndexed} ORDER BY ${agentHash}, t.state LIMIT 1)
      UNION ALL
      SELECT next.agent, next.state FROM pair CROSS JOIN LATERAL (
        SELECT ${agentHash} AS agent, t.state FROM ${schema}.tasks AS t
        WHERE ${isIndexed} AND (${agentHash}, t.state) > (pair.agent, pair.state) ORDER BY ${agentHash}, t.state LIMIT 1
      ) AS next
    )`
  /** The searches in one order. The third value is the far end of the requested time. */
  function searchesIn(inOrder: string, isNext: string) {
    const settled = `
      SELECT t.status_at, t.id FROM pair CROSS JOIN LATERAL (
        SELECT t.status_at, t.id FROM ${schema}.tasks AS t
        WHERE ${isIndexed} AND ${agentHash} = pair.agent AND t.state = pair.state AND ${isNext}
          AND ($6::text IS NULL OR t.agent = $6)
        ${inOrder} LIMIT $4
      ) AS t
      WHERE pair.state = ANY ($5::smallint[]) AND ($6::text IS NULL OR pair.agent = hashtextextended($6, 0))`
    // Counters are split by replica, and their sum may be zero.
    const atWork = (more: string): string => `
      SELECT t.status_at, t.id FROM (
        SELECT partition_key, state FROM ${schema}.counters
        WHERE state IN (1, 2) AND state = ANY ($5::smallint[]) GROUP BY partition_key, state HAVING sum(tasks) > 0
      ) AS busy CROSS JOIN LATERAL (
        SELECT t.status_at, t.id FROM ${schema}.tasks AS t
        WHERE t.partition_key = busy.partition_key AND t.state = busy.state AND ${isNext}
          AND ($6::text IS NULL OR t.agent = $6) ${more}
        ${inOrder} LIMIT $4
      ) AS t`
    const rowsIn = (places: string): string => `
      SELECT ${postgresTaskColumns} FROM (SELECT * FROM (${places}) AS t ${inOrder} LIMIT $4) AS found
      JOIN ${schema}.tasks AS t USING (id) ${inOrder}`
    const overAll = `${pairs} ${rowsIn(`(${settled}) UNION ALL (${atWork('')})`)}`
    const ownSettled = `
      SELECT t.status_at, t.id FROM ${schema}.tasks AS t
      WHERE ${isIndexed} AND hashtextextended(t.owner, 0) = hashtextextended($7, 0) AND t.owner = $7
        AND ${isNext} AND ${isWanted}
      ${inOrder} LIMIT $4`
    const ofOwner = rowsIn(`(${ownSettled}) UNION ALL (${atWork('AND t.owner = $7')})`)
    const ofContext = `
      SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t
      WHERE hashtextextended(t.context_id, 0) = hashtextextended($8, 0) AND t.context_id = $8 AND ${isNext} AND ${isWanted}
        AND ($7::text IS NULL OR t.owner = $7)
      ${inOrder} LIMIT $4`
    return { overAll, ofOwner, ofContext }
  }
  const searches = {
    newest: searchesIn('ORDER BY t.status_at DESC, t.id DESC', '(t.status_at, t.id) < ($1, $2) AND t.status_at >= $3'),
    oldest: searchesIn('ORDER BY t.status_at, t.id', '(t.status_at, t.id) > ($1, $2) AND t.status_at < $3'),
  }
  const beginning = `
    SELECT ${postgresTaskColumns} FROM ${schema}.tasks AS t WHERE t.id >= $1 AND t.id < $2 ORDER BY t.id DESC LIMIT $3`
  // The name of an agent is taken from any of the counted tasks.
  const counts = `
    SELECT named.agent, busy.state, sum(busy.total) AS total FROM (
      SELECT partition_key, state, sum(tasks) AS total FROM ${schema}.counters
      WHERE state = ANY ($1::smallint[]) GROUP BY partition_key, state HAVING sum(tasks) > 0
    ) AS busy CROSS JOIN LATERAL (
      SELECT t.agent, t.owner FROM ${schema}.tasks AS t
      WHERE t.partition_key = busy.partition_key AND t.state = busy.state LIMIT 1
    ) AS named WHERE starts_with(named.owner, $2) GROUP BY named.agent, busy.state`

  // As above: any task of an agent has its name.
  const names = `${pairs}
    SELECT DISTINCT named.agent FROM pair CROSS JOIN LATERAL (
      SELECT t.agent FROM ${schema}.tasks AS t
      WHERE ${isIndexed} AND ${agentHash} = pair.agent AND t.state = pair.state LIMIT 1
    ) AS named`

  const rowsOf = (rows: readonly PostgresTaskColumns[]): Promise<TaskRow[]> =>
    Promise.all(rows.map((row) => readPostgresTask(row, blobs)))

  function pageOf(query: SearchQuery): Promise<readonly PostgresTaskColumns[]> {
    const { agent, owner, contextId, states = taskStates, order = 'newest', limit } = query
    const { overAll, ofOwner, ofContext } = searches[order]
    const wanted = [states.map(taskStateNumber), agent === undefined ? null : encodeText(agent)]
    const values = [...rangeOf(query), limit + 1, ...wanted]
    if (contextId !== undefined) {
      return database.queryWithRetry(
        ofContext,
        ...values,
        owner === undefined ? null : encodeText(owner),
        encodeText(contextId),
      )
    }
    return owner === undefined
      ? database.queryWithRetry(overAll, ...values)
      : database.queryWithRetry(ofOwner, ...values, encodeText(owner))
  }

  return {
    async search(query: SearchQuery): Promise<SearchPage> {
      const rows = await pageOf(query)
      return { tasks: await rowsOf(rows.slice(0, query.limit)), more: rows.length > query.limit }
    },
    async agents(): Promise<readonly string[]> {
      const [settled, busy] = await Promise.all([
        database.queryWithRetry<{ agent: string }>(names),
        database.queryWithRetry<{ agent: string }>(counts, working, ''),
      ])
      return [...new Set([...settled, ...busy].map(({ agent }) => decodeText(agent)))]
    },
    async findTasks(idPrefix: string, limit: number): Promise<readonly TaskRow[]> {
      const from = encodeText(idPrefix)
      // No character is greater than this last one.
      return rowsOf(await database.queryWithRetry<PostgresTaskColumns>(beginning, from, `${from}\u{10ffff}`, limit))
    },
    async countUnfinished(ownerPrefix = ''): Promise<readonly AgentCount[]> {
      const rows = await database.queryWithRetry<{ agent: string; state: number; total: unknown }>(
        counts,
        unfinished,
        encodeText(ownerPrefix),
      )
      return rows.map(({ agent, state, total }) => ({
        agent: decodeText(agent),
        state: taskStates[state] ?? 'TASK_STATE_UNSPECIFIED',
        tasks: Number(total),
      }))
    },
  }
}

/** The position before all wanted tasks (the end of the previous page, or the nearer end of the requested time) and the far end. */
function rangeOf(query: SearchQuery): readonly [statusAt: number, id: string, lastTime: number] {
  const { before, from = -endOfTime, until = endOfTime, order } = query
  // No id is less than the empty one.
  if (order === 'oldest')
    return before !== undefined && before.statusAt >= from
      ? [before.statusAt, encodeText(before.id), until]
      : [from, '', until]
  return before !== undefined && before.statusAt < until
    ? [before.statusAt, encodeText(before.id), from]
    : [until, '', from]
}
