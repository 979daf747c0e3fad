/** Storage beside tasks, and removal: keys, expired claims, finished tasks, writers of ended processes. */
import type { KeyMaterialChange, KeyRow, Retention } from '../store.ts'
import { type DatabaseTime, type PostgresDatabase, currentTimeSql } from './database.ts'
import { toPostgresInteger } from './text-encoding.ts'

/** Claims removed in one call: with a call every ten seconds, as many as 2,000 tasks per second leave behind. */
const messagesPerCall = 20_000
/** Attempts and push notification configs removed in one call. */
const deliveriesPerCall = 10_000

export function createHousekeeping(database: PostgresDatabase, schema: string, { now, offsetFromNow }: DatabaseTime) {
  const moment = currentTimeSql('$1')
  const sweepMessages = `
    DELETE FROM ${schema}.messages WHERE key IN (
      SELECT key FROM ${schema}.messages WHERE expires_at <= ${moment} ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
  // A day is longer than any process tries to find out the outcome of a flush.
  const sweepWriters = `DELETE FROM ${schema}.writers WHERE seen_at < now() - interval '1 day'`
  const prune = `SELECT ${schema}.prune_1(${moment} + $2::bigint, $3, ${moment} + $4::bigint, $5) AS gone`
  // Attempts are written in the order of their time.
  const dropAttempts = `
    DELETE FROM ${schema}.push_attempts WHERE ref IN (
      SELECT ref FROM (SELECT ref, at FROM ${schema}.push_attempts WHERE ref > 0 ORDER BY ref LIMIT $2) AS first WHERE at < $1)`
  const dropEndedPushes = `
    DELETE FROM ${schema}.pushes WHERE ref IN (
      SELECT p.ref FROM ${schema}.pushes AS p JOIN ${schema}.tasks AS t ON t.ref = p.task
      WHERE p.state IN ('done', 'dead') AND t.finished AND t.status_at < $1 LIMIT $2)`
  const list = `SELECT id, purpose, material, created_at FROM ${schema}.keys ORDER BY created_at, id`
  const save = `INSERT INTO ${schema}.keys (id, purpose, material, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
  const remove = `DELETE FROM ${schema}.keys WHERE id = $1`
  // The rows are locked first and counted as they are then: all are changed or none.
  const replace = `
    WITH change AS (SELECT * FROM unnest($1::text[], $2::text[], $3::text[]) AS change (id, old, new)),
    found AS MATERIALIZED (
      SELECT key.id FROM ${schema}.keys AS key JOIN change ON change.id = key.id AND change.old = key.material
      ORDER BY key.id FOR UPDATE OF key),
    replaced AS (
      UPDATE ${schema}.keys AS key SET material = change.new FROM change
      WHERE key.id = change.id AND key.id IN (SELECT id FROM found)
        AND (SELECT count(*) FROM found) = (SELECT count(*) FROM change)
      RETURNING key.id)
    SELECT (SELECT count(*) FROM replaced)::int = (SELECT count(*) FROM change)::int AS done`

  const distanceOf = (at: number | undefined): number | null => (at === undefined ? null : offsetFromNow(at))

  return {
    async prune({ finishedBefore, maxTasks, logBefore, deliveriesBefore, batch }: Retention): Promise<number> {
      await database.query(sweepMessages, now(), messagesPerCall)
      const rules = [distanceOf(finishedBefore), maxTasks ?? null, distanceOf(logBefore)]
      const [row] = await database.query<{ gone: number }>(prune, now(), ...rules, batch)
      if (deliveriesBefore !== undefined) {
        await database.query(dropAttempts, toPostgresInteger(deliveriesBefore), deliveriesPerCall)
        await database.query(dropEndedPushes, toPostgresInteger(deliveriesBefore), deliveriesPerCall)
      }
      await database.query(sweepWriters)
      return row?.gone ?? 0
    },
    keys: {
      async list(): Promise<readonly KeyRow[]> {
        const rows = await database.queryWithRetry<Omit<KeyRow, 'createdAt'> & { created_at: unknown }>(list)
        return rows.map(({ id, purpose, material, created_at }) => ({
          id,
          purpose,
          material,
          createdAt: Number(created_at),
        }))
      },
      async save({ id, purpose, material, createdAt }: KeyRow): Promise<void> {
        await database.queryWithRetry(save, id, purpose, material, createdAt)
      },
      async delete(id: string): Promise<void> {
        await database.queryWithRetry(remove, id)
      },
      /** Not retried: after a lost answer the second attempt would find the new material. The caller reads the keys again. */
      async replace(changes: readonly KeyMaterialChange[]): Promise<boolean> {
        const columns = [changes.map(({ id }) => id), changes.map(({ from }) => from), changes.map(({ to }) => to)]
        const [row] = await database.query<{ done: boolean }>(replace, ...columns)
        return row?.done === true
      },
    },
  }
}
