/**
 * The position of a store in its feed, to which all earlier appends have come. Positions are computed from the numbers of transactions,
 * which other programs on the server use up too: the position of an untouched store would change by the minute. After a load the
 * exact position is therefore remembered, and stays the position until something is appended.
 */
import { keyToBytes } from '../../dump-access.ts'
import { storeOwnKind } from '../dump-entry.ts'
import type { PostgresTransaction } from './transaction.ts'

/** What a load leaves behind. */
interface LoadedPosition {
  readonly position: number
  /** How many tasks were loaded, and how many of them without their log. */
  readonly tasks: number
  readonly dropped: number
}

const place = [Buffer.from(keyToBytes(storeOwnKind)), Buffer.from(keyToBytes('loaded'))]

export async function positionOf({ query }: PostgresTransaction, schema: string): Promise<number> {
  const [loaded] = await query<{ value: string }>(
    `SELECT value FROM ${schema}.notes WHERE kind = $1 AND key = $2`,
    ...place,
  )
  const { position, tasks, dropped } = JSON.parse(loaded?.value ?? '{}') as Partial<LoadedPosition>
  if (position !== undefined) {
    // An append leaves a new task or a later position, unless its task or its log was removed since.
    const [row] = await query<{ is_same: boolean }>(
      `SELECT (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${schema}.task_refs) = $2 AND count(*) = $2
          AND count(*) FILTER (WHERE log_dropped) = $3
          AND NOT EXISTS (SELECT FROM ${schema}.log WHERE position > $1) AS is_same
        FROM ${schema}.tasks`,
      position,
      tasks,
      dropped,
    )
    if (row?.is_same === true) return position
  }
  // Each visible append has a lower transaction number than this, and at most 1,024 positions belong to a number.
  const [row] = await query<{ position: unknown }>(`
    SELECT greatest(coalesce((SELECT max(position) FROM ${schema}.log), 0),
      (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + base) * 1024 - 1) AS position FROM ${schema}.feed_base`)
  return Number(row?.position ?? 0)
}

/** Within the transaction that has loaded everything: the next append gets a higher position. */
export async function setPosition({ query }: PostgresTransaction, schema: string, position: number): Promise<void> {
  await query(
    `UPDATE ${schema}.feed_base SET base = $1::bigint / 1024 + 1 - pg_current_xact_id()::text::bigint
      WHERE $1::bigint >= (pg_current_xact_id()::text::bigint + base) * 1024`,
    position,
  )
  await query(
    `INSERT INTO ${schema}.notes (kind, key, version, updated_at, value)
      SELECT $1, $2, 1, (extract(epoch FROM now()) * 1000)::bigint,
        json_build_object('position', $3::bigint, 'tasks', count(*), 'dropped', count(*) FILTER (WHERE log_dropped))::text
      FROM ${schema}.tasks`,
    ...place,
    position,
  )
}
