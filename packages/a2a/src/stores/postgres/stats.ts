/** Statistics of the schema, from the catalog, indexes and counters: one statement for each fact, whatever the number of tasks. */
import { maxCountedPushes, maxInspectedAttempts, maxInspectedPushes, waitingStates } from '../stats-limits.ts'
import type { FeedStore, PushBacklog, StoreStatistics } from '../store.ts'
import type { PostgresContext } from './context.ts'
import { currentTimeSql } from './database.ts'
import type { PostgresTaskSearch } from './search.ts'

/** `schemaName` is the schema as it is called. */
export function createPostgresStats(
  { database, schema, time }: PostgresContext,
  schemaName: string,
  feed: Pick<FeedStore, 'end'>,
  { search }: Pick<PostgresTaskSearch, 'search'>,
) {
  // The size of a table that is dropped meanwhile is NULL.
  const size = `
    SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'm')`
  const tasks = `
    SELECT (SELECT coalesce(sum(tasks), 0) FROM ${schema}.counters) AS tasks,
      (SELECT created_at FROM ${schema}.tasks ORDER BY ref LIMIT 1) AS oldest,
      (SELECT created_at FROM ${schema}.tasks WHERE holder IS NOT NULL AND NOT finished
       ORDER BY created_at, id LIMIT 1) AS leased`
  const isBehind = "p.due_at IS NOT NULL AND p.state = 'active'"
  const countUpTo = (condition: string): string =>
    `(SELECT count(*) FROM (SELECT FROM ${schema}.pushes AS p WHERE ${condition} LIMIT ${maxCountedPushes}) AS p)`
  const endOf = (direction: 'ASC' | 'DESC'): string => `
    (SELECT p.task, p.key, p.delivered_seq, p.attempt, p.due_at FROM ${schema}.pushes AS p
     WHERE ${isBehind} ORDER BY p.due_at ${direction}, p.ref ${direction} LIMIT ${maxInspectedPushes / 2})`
  const pushes = `
    SELECT ${countUpTo(isBehind)} AS behind, ${countUpTo(`${isBehind} AND p.due_at <= (SELECT ${currentTimeSql('$1')})`)} AS due,
      ${countUpTo("p.state = 'dead'")} AS dead, (
        SELECT min(coalesce((
          SELECT min(a.at) FROM (
            SELECT a.at, a.seq FROM ${schema}.push_attempts AS a
            WHERE a.task = p.task AND a.push_key = p.key ORDER BY a.ref DESC LIMIT ${maxInspectedAttempts}) AS a
          WHERE a.seq > p.delivered_seq AND p.attempt > 0), p.due_at))
        FROM (${endOf('ASC')} UNION ALL ${endOf('DESC')}) AS p) AS oldest`

  async function backlog(): Promise<PushBacklog> {
    const [row] = await database.queryWithRetry<Record<'behind' | 'due' | 'dead' | 'oldest', unknown>>(
      pushes,
      time.now(),
    )
    const { behind, due, dead, oldest } = row ?? { behind: 0, due: 0, dead: 0, oldest: null }
    return {
      behind: Number(behind),
      due: Number(due),
      dead: Number(dead),
      ...(oldest === null ? {} : { oldestAt: Number(oldest) }),
    }
  }

  return async (): Promise<StoreStatistics> => {
    const [[stored], [counted], { tasks: waiting }, push, position] = await Promise.all([
      database.queryWithRetry<{ bytes: unknown }>(size, schemaName),
      database.queryWithRetry<Record<'tasks' | 'oldest' | 'leased', unknown>>(tasks),
      search({ states: waitingStates, order: 'oldest', limit: 1 }),
      backlog(),
      feed.end(),
    ])
    const unfinished = [numberOf(counted?.leased), waiting[0]?.statusAt].filter((at) => at !== undefined)
    const oldestTaskAt = numberOf(counted?.oldest)
    return {
      bytes: { database: Number(stored?.bytes ?? 0) },
      tasks: Number(counted?.tasks ?? 0),
      ...(oldestTaskAt === undefined ? {} : { oldestTaskAt }),
      ...(unfinished.length === 0 ? {} : { oldestUnfinishedAt: Math.min(...unfinished) }),
      push,
      position,
    }
  }
}

function numberOf(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value)
}
