/**
 * Taking over what others left, prolonging what one has, and finding what is due. Any replica may ask: rows that another one
 * is just being given are passed over, so nobody waits and nobody gets the same.
 *
 * Time is the database's, unless a clock was given: the clocks of replicas differ, and a lease must run out for all at once.
 * `shiftMs` is how far the asker's time is from now.
 */
import { dueAgainMs } from '../store.ts'
import type { DueTime, LeasedTask, TaskRow } from '../store.ts'
import type { Blobs } from './blob-content.ts'
import type { Database } from './database.ts'
import { fromText, toText, wholeTime } from './names.ts'
import type { TaskColumns } from './rows.ts'
import { dueOf, taskColumns, taskOf } from './rows.ts'
import type { DatabaseTime } from './time.ts'
import { momentOf } from './time.ts'

export interface LeaseParts {
  readonly database: Database
  readonly schema: string
  readonly blobs: Blobs
  readonly time: DatabaseTime
}

export type Leases = ReturnType<typeof createLeases>

export function createLeases({ database, schema, blobs, time: { now, distance } }: LeaseParts) {
  const time = (clock: string, later: string): string => `(SELECT ${momentOf(clock)} + ${later}::bigint)`
  const claimOrphans = `
    WITH found AS MATERIALIZED (
      SELECT ref FROM ${schema}.tasks
      WHERE holder IS NOT NULL AND NOT finished AND lease_until <= ${time('$2', '$3')}
      ORDER BY created_at, id LIMIT $5 FOR UPDATE SKIP LOCKED
    )
    UPDATE ${schema}.tasks AS t SET holder = $1, lease_until = ${time('$2', '$3 + $4')}, fence = t.fence + 1,
      due_at = CASE t.due_kind WHEN 'turn' THEN greatest(t.due_at, ${time('$2', '$3 + $6')}) ELSE t.due_at END
    FROM found WHERE t.ref = found.ref RETURNING ${taskColumns}`
  /** Whether a lease is under the fence that goes with its id, where fences were given. */
  const isMeant = (id: string, fence: string): string =>
    `($5::bigint[] IS NULL OR ${fence} = ($5::bigint[])[array_position($4::text[], ${id})])`
  // A lease that has most of its time before it is left alone: a write for each held task and each beat would be most of
  // what an idle replica writes. One that is to end sooner is cut short.
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
    RETURNING ${taskColumns}, found.due_at AS was_due_at`

  return {
    async claimOrphans(holder: string, shiftMs: number, ttlMs: number, limit: number): Promise<readonly LeasedTask[]> {
      const values = [toText(holder), now(), shiftMs, wholeTime(ttlMs), limit, dueAgainMs]
      const rows = await database.once<TaskColumns>(claimOrphans, ...values)
      const claimed = rows.map(async (row) => ({ task: await taskOf(row, blobs), fence: Number(row.fence) }))
      return (await Promise.all(claimed)).sort((a, b) => a.task.createdAt - b.task.createdAt || byId(a.task, b.task))
    },
    async renew(
      holder: string,
      taskIds: readonly string[],
      until: number,
      fences?: readonly number[],
    ): Promise<readonly string[]> {
      const values = [toText(holder), now(), distance(until), taskIds.map(toText), fences ?? null]
      const rows = await database.ask<{ id: string }>(renew, ...values)
      const kept = new Set(rows.map(({ id }) => fromText(id)))
      return taskIds.filter((id) => !kept.has(id))
    },
    async claimDue(
      shiftMs: number,
      limit: number,
    ): Promise<readonly { readonly task: TaskRow; readonly due: DueTime }[]> {
      const values = [now(), shiftMs, limit, dueAgainMs]
      const rows = await database.once<TaskColumns & { was_due_at: unknown }>(claimDue, ...values)
      const claimed = rows.map(async (row) => ({
        task: await taskOf(row, blobs),
        due: dueOf({ ...row, due_at: row.was_due_at }) as DueTime,
      }))
      return (await Promise.all(claimed)).sort((a, b) => a.due.at - b.due.at || byId(a.task, b.task))
    },
  }
}

function byId(a: TaskRow, b: TaskRow): number {
  return a.id < b.id ? -1 : 1
}
