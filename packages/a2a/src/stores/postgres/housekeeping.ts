/** Storage beside tasks, and removal: keys, expired claims, finished tasks, writers of ended processes. */
import type { KeyRow, Retention } from '../store.ts'
import { type DatabaseTime, type PostgresDatabase, currentTimeSql } from './database.ts'

/** Claims removed in one call: with a call every ten seconds, as many as 2,000 tasks per second leave behind. */
const messagesPerCall = 20_000

export function createHousekeeping(database: PostgresDatabase, schema: string, { now, offsetFromNow }: DatabaseTime) {
  const moment = currentTimeSql('$1')
  const sweepMessages = `
    DELETE FROM ${schema}.messages WHERE key IN (
      SELECT key FROM ${schema}.messages WHERE expires_at <= ${moment} ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`
  // A day is longer than any process tries to find out the outcome of a flush.
  const sweepWriters = `DELETE FROM ${schema}.writers WHERE seen_at < now() - interval '1 day'`
  const prune = `SELECT ${schema}.prune_1(${moment} + $2::bigint, $3, ${moment} + $4::bigint, $5) AS gone`
  const list = `SELECT id, purpose, material, created_at FROM ${schema}.keys ORDER BY created_at, id`
  const save = `INSERT INTO ${schema}.keys (id, purpose, material, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`
  const remove = `DELETE FROM ${schema}.keys WHERE id = $1`

  const distanceOf = (at: number | undefined): number | null => (at === undefined ? null : offsetFromNow(at))

  return {
    async prune({ finishedBefore, maxTasks, logBefore, batch }: Retention): Promise<number> {
      await database.query(sweepMessages, now(), messagesPerCall)
      const rules = [distanceOf(finishedBefore), maxTasks ?? null, distanceOf(logBefore)]
      const [row] = await database.query<{ gone: number }>(prune, now(), ...rules, batch)
      await database.query(sweepWriters)
      return row?.gone ?? 0
    },
    async listKeys(): Promise<readonly KeyRow[]> {
      const rows = await database.queryWithRetry<Omit<KeyRow, 'createdAt'> & { created_at: unknown }>(list)
      return rows.map(({ id, purpose, material, created_at }) => ({
        id,
        purpose,
        material,
        createdAt: Number(created_at),
      }))
    },
    async saveKey({ id, purpose, material, createdAt }: KeyRow): Promise<void> {
      await database.queryWithRetry(save, id, purpose, material, createdAt)
    },
    async deleteKey(id: string): Promise<void> {
      await database.queryWithRetry(remove, id)
    },
  }
}
