/**
 * Tasks of all owners, by keyset on indexes: a page costs as much as it is long and as there are agents and states, and not
 * as there are tasks.
 */
import { isTerminal, taskStates } from '../../model/state.ts'
import type { AgentCount, SearchPage, SearchQuery, TaskRow } from '../store.ts'
import type { Blobs } from './blob-content.ts'
import type { Database } from './database.ts'
import { fromText, toText } from './names.ts'
import { stateNumber } from './prepare.ts'
import type { TaskColumns } from './rows.ts'
import { taskColumns, taskOf } from './rows.ts'

const endOfTime = Number.MAX_SAFE_INTEGER
const unfinished = taskStates.filter((state) => !isTerminal(state)).map(stateNumber)

export type Search = ReturnType<typeof createSearch>

export function createSearch(database: Database, schema: string, blobs: Blobs) {
  const agentHash = 'hashtextextended(t.agent, 0)'
  // As the indexes say it.
  const isIndexed = 't.state NOT IN (1, 2)'
  const newestFirst = 'ORDER BY t.status_at DESC, t.id DESC'
  const isNext = '(t.status_at, t.id) < ($1, $2) AND t.status_at >= $3'
  const isWanted = 't.state = ANY ($5::smallint[]) AND ($6::text IS NULL OR t.agent = $6)'
  // Steps from one agent and state to the next, and never over the tasks between them.
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
  const settled = `
    SELECT t.status_at, t.id FROM pair CROSS JOIN LATERAL (
      SELECT t.status_at, t.id FROM ${schema}.tasks AS t
      WHERE ${isIndexed} AND ${agentHash} = pair.agent AND t.state = pair.state AND ${isNext}
        AND ($6::text IS NULL OR t.agent = $6)
      ${newestFirst} LIMIT $4
    ) AS t
    WHERE pair.state = ANY ($5::smallint[]) AND ($6::text IS NULL OR pair.agent = hashtextextended($6, 0))`
  // Counted by several replicas each for itself, which may add up to nothing.
  const atWork = (more: string): string => `
    SELECT t.status_at, t.id FROM (
      SELECT partition_key, state FROM ${schema}.counters
      WHERE state IN (1, 2) AND state = ANY ($5::smallint[]) GROUP BY partition_key, state HAVING sum(tasks) > 0
    ) AS busy CROSS JOIN LATERAL (
      SELECT t.status_at, t.id FROM ${schema}.tasks AS t
      WHERE t.partition_key = busy.partition_key AND t.state = busy.state AND ${isNext}
        AND ($6::text IS NULL OR t.agent = $6) ${more}
      ${newestFirst} LIMIT $4
    ) AS t`
  const rowsIn = (places: string): string => `
    SELECT ${taskColumns} FROM (SELECT * FROM (${places}) AS t ${newestFirst} LIMIT $4) AS found
    JOIN ${schema}.tasks AS t USING (id) ${newestFirst}`
  const overAll = `${pairs} ${rowsIn(`(${settled}) UNION ALL (${atWork('')})`)}`
  const ownSettled = `
    SELECT t.status_at, t.id FROM ${schema}.tasks AS t
    WHERE ${isIndexed} AND hashtextextended(t.owner, 0) = hashtextextended($7, 0) AND t.owner = $7
      AND ${isNext} AND ${isWanted}
    ${newestFirst} LIMIT $4`
  const ofOwner = rowsIn(`(${ownSettled}) UNION ALL (${atWork('AND t.owner = $7')})`)
  const ofContext = `
    SELECT ${taskColumns} FROM ${schema}.tasks AS t
    WHERE hashtextextended(t.context_id, 0) = hashtextextended($8, 0) AND t.context_id = $8 AND ${isNext} AND ${isWanted}
      AND ($7::text IS NULL OR t.owner = $7)
    ${newestFirst} LIMIT $4`
  const beginning = `
    SELECT ${taskColumns} FROM ${schema}.tasks AS t WHERE t.id >= $1 AND t.id < $2 ORDER BY t.id DESC LIMIT $3`
  // The name of an agent is that of any of the tasks that are counted together.
  const counts = `
    SELECT named.agent, busy.state, sum(busy.total) AS total FROM (
      SELECT partition_key, state, sum(tasks) AS total FROM ${schema}.counters
      WHERE state = ANY ($1::smallint[]) GROUP BY partition_key, state HAVING sum(tasks) > 0
    ) AS busy CROSS JOIN LATERAL (
      SELECT t.agent FROM ${schema}.tasks AS t
      WHERE t.partition_key = busy.partition_key AND t.state = busy.state LIMIT 1
    ) AS named GROUP BY named.agent, busy.state`

  const rowsOf = (rows: readonly TaskColumns[]): Promise<TaskRow[]> =>
    Promise.all(rows.map((row) => taskOf(row, blobs)))

  function pageOf(query: SearchQuery): Promise<readonly TaskColumns[]> {
    const { agent, owner, contextId, states = taskStates, from = -endOfTime, limit } = query
    const wanted = [states.map(stateNumber), agent === undefined ? null : toText(agent)]
    const values = [...startOf(query), from, limit + 1, ...wanted]
    if (contextId !== undefined) {
      return database.ask(ofContext, ...values, owner === undefined ? null : toText(owner), toText(contextId))
    }
    return owner === undefined ? database.ask(overAll, ...values) : database.ask(ofOwner, ...values, toText(owner))
  }

  return {
    async search(query: SearchQuery): Promise<SearchPage> {
      const rows = await pageOf(query)
      return { tasks: await rowsOf(rows.slice(0, query.limit)), more: rows.length > query.limit }
    },
    async findTasks(idPrefix: string, limit: number): Promise<readonly TaskRow[]> {
      const from = toText(idPrefix)
      // No character is greater than the last one.
      return rowsOf(await database.ask<TaskColumns>(beginning, from, `${from}\u{10ffff}`, limit))
    },
    async countUnfinished(): Promise<readonly AgentCount[]> {
      const rows = await database.ask<{ agent: string; state: number; total: unknown }>(counts, unfinished)
      return rows.map(({ agent, state, total }) => ({
        agent: fromText(agent),
        state: taskStates[state] ?? 'TASK_STATE_UNSPECIFIED',
        tasks: Number(total),
      }))
    },
  }
}

/** Before everything that is wanted: where the page before ended, or the end of the time that is asked for. */
function startOf({ before, until = endOfTime }: SearchQuery): readonly [statusAt: number, id: string] {
  return before !== undefined && before.statusAt < until ? [before.statusAt, toText(before.id)] : [until, '']
}
