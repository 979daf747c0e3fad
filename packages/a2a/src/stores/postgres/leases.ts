/**
 * Takes over orphans, renews leases, and finds due tasks. Any replica may call this: rows locked for another replica are skipped,
 * so no call waits and no two calls get the same task.
 *
 * Time is the database's, unless a clock was given: the clocks of replicas differ, and a lease must expire for all at once.
 * `shiftMs` is the offset of the caller's time from now.
 */
import { dueAgainMs } from '../task-store.ts'
import type { DueTime, LeasedTask, TaskRow } from '../store.ts'
import type { PostgresContext } from './context.ts'
import { currentTimeSql } from './database.ts'
import { decodeText, encodeText, toPostgresInteger } from './text-encoding.ts'
import { type PostgresTaskColumns, dueOf, postgresTaskColumns, readPostgresTask } from './rows.ts'

export function createPostgresLeases({ database, schema, blobs, time: { now, offsetFromNow } }: PostgresContext) {
  const time = (clock: string, later: string): string => `(SELECT ${currentTimeSql(clock)} + ${later}::bigint)`
  const claimOrphans = `
    WITH found AS MATERIALIZED (
      SELECT ref FROM ${schema}.tasks
      WHERE holder IS NOT NULL AND NOT finished AND lease_until <= ${time('$2', '$3')}
      ORDER BY created_at, id LIMIT $5 FOR UPDATE SKIP LOCKED
    )
    UPDATE ${schema}.tasks AS t SET holder = $1, lease_until = ${time('$2', '$3 + $4')}, fence = t.fence + 1,
      due_at = CASE t.due_kind WHEN 'turn' THEN greatest(t.due_at, ${time('$2', '$3 + $6')}) ELSE t.due_at END
    FROM found WHERE t.ref = found.ref RETURNING ${postgresTaskColumns}`
  /** Whether a lease has the fence given for its id, if fences were given. */
  const isMeant = (id: string, fence: string): string =>
    `($5::bigint[] IS NULL OR ${fence} = ($5::bigint[])[array_position($4::text[], ${id})])`
  // A lease with most of its time left is not renewed: a write for each held task and each heartbeat would be most of the writes of
  // an idle replica. A lease that is to end sooner is shortened.
  const renew = `
    WITH mine AS MATERIALIZED (
      SELECT ref, id, lease_until FROM ${schema}.tasks
      WHERE id = ANY ($4) AND holder = $1 AND lease_until > ${time('$2', '0')} AND ${isMeant('id', 'fence')}
    ), short AS MATERIALIZED (
      SELECT ref FROM ${schema}.tasks
      WHERE ref IN (
        SELECT ref FROM mine
        WHERE lease_until < ${time('$2', '$3 * 3 / 4')} OR lease_until > ${time('$2', '$3')}
      ) ORDER BY id FOR NO KEY UPDATE
    ), prolonged AS (
      UPDATE ${schema}.tasks AS t SET lease_until = ${time('$2', '$3')} FROM short
      WHERE t.ref = short.ref AND t.holder = $1 AND t.lease_until > ${time('$2', '0')}
        AND ${isMeant('t.id', 't.fence')} RETURNING t.ref
    )
    SELECT id FROM mine WHERE ref IN (SELECT ref FROM prolonged) OR ref NOT IN (SELECT ref FROM short)`
  const claimDue = `
    WITH found AS MATERIALIZED (
      SELECT ref, due_at FROM ${schema}.tasks WHERE due_at IS NOT NULL AND due_at <= ${time('$1', '$2')}
        AND NOT (due_kind = 'turn' AND holder IS NOT NULL AND lease_until <= ${time('$1', '$2')})
      ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
    )
    UPDATE ${schema}.tasks AS t SET due_at = ${time('$1', '$2 + $4')} FROM found WHERE t.ref = found.ref
    RETURNING ${postgresTaskColumns}, found.due_at AS was_due_at`

  return {
    async claimOrphans(holder: string, shiftMs: number, ttlMs: number, limit: number): Promise<readonly LeasedTask[]> {
      const values = [encodeText(holder), now(), shiftMs, toPostgresInteger(ttlMs), limit, dueAgainMs]
      const rows = await database.query<PostgresTaskColumns>(claimOrphans, ...values)
      const claimed = rows.map(async (row) => ({ task: await readPostgresTask(row, blobs), fence: Number(row.fence) }))
      return (await Promise.all(claimed)).sort((a, b) => a.task.createdAt - b.task.createdAt || byId(a.task, b.task))
    },
    async renew(
      holder: string,
      taskIds: readonly string[],
      until: number,
      fences?: readonly number[],
    ): Promise<readonly string[]> {
      const values = [encodeText(holder), now(), offsetFromNow(until), taskIds.map(encodeText), fences ?? null]
      const rows = await database.queryWithRetry<{ id: string }>(renew, ...values)
      const kept = new Set(rows.map(({ id }) => decodeText(id)))
      return taskIds.filter((id) => !kept.has(id))
    },
    async claimDue(
      shiftMs: number,
      limit: number,
    ): Promise<readonly { readonly task: TaskRow; readonly due: DueTime }[]> {
      const values = [now(), shiftMs, limit, dueAgainMs]
      const rows = await database.query<PostgresTaskColumns & { was_due_at: unknown }>(claimDue, ...values)
      const claimed = rows.map(async (row) => ({
        task: await readPostgresTask(row, blobs),
        due: dueOf({ ...row, due_at: row.was_due_at }) as DueTime,
      }))
      return (await Promise.all(claimed)).sort((a, b) => a.due.at - b.due.at || byId(a.task, b.task))
    },
  }
}

function byId(a: TaskRow, b: TaskRow): number {
  return a.id < b.id ? -1 : 1
}
