/** What a prune would remove: the same conditions as in prune.ts, as counts. Changes nothing. */
import { keyFromBytes } from '../../key-value-keys.ts'
import { type EstimateColumns, estimateOf } from '../../prune-estimate.ts'
import type { PruneEstimate, PruneKind, Retention } from '../../store.ts'
import type { SqliteContext } from '../context.ts'

type EstimateRow = Omit<EstimateColumns, 'kind'>

/** No clock reaches it. */
const never = Number.MAX_SAFE_INTEGER
const removable = 'finished = 1 AND pushes = 0'
/** The oldest `?1` finished tasks. */
const removed = `SELECT ref, status_at FROM tasks WHERE ${removable} ORDER BY status_at, id LIMIT ?1`
const covered = `SELECT ref, status_at FROM tasks WHERE ${removable} AND log_dropped = 0 AND status_at < ?2
  AND EXISTS (SELECT 1 FROM snapshots WHERE task = tasks.ref AND seq >= head) AND ref NOT IN (SELECT ref FROM removed)`
const times = 'min(status_at) AS oldest, max(status_at) AS newest'

export function createPreviewPrune({ database, counters, now, steady }: SqliteContext) {
  const older = database.prepare<{ tasks: number }>(
    `SELECT count(*) AS tasks FROM tasks WHERE ${removable} AND status_at < ?`,
  )
  const tasks = database.prepare<EstimateRow>(`
    WITH removed AS MATERIALIZED (${removed})
    SELECT count(*) AS rows, sum(octet_length(status) + coalesce(octet_length(metadata), 0) + 300) AS bytes,
      min(tasks.status_at) AS oldest, max(tasks.status_at) AS newest FROM tasks JOIN removed USING (ref)`)
  const snapshots = database.prepare<EstimateRow>(`
    WITH removed AS MATERIALIZED (${removed})
    SELECT count(*) AS rows, sum(octet_length(folded) + octet_length(internal)) AS bytes, ${times}
    FROM snapshots JOIN removed ON removed.ref = snapshots.task`)
  const logs = database.prepare<EstimateRow>(`
    WITH removed AS MATERIALIZED (${removed}), covered AS MATERIALIZED (${covered}),
      dropped AS (SELECT * FROM removed UNION ALL SELECT * FROM covered)
    SELECT count(*) AS rows, sum(octet_length(records)) AS bytes, ${times} FROM log JOIN dropped ON dropped.ref = log.task`)
  const blobs = database.prepare<EstimateRow>(`
    WITH removed AS MATERIALIZED (${removed})
    SELECT count(*) AS rows, sum(octet_length(content)) AS bytes, NULL AS oldest, NULL AS newest FROM blobs
    WHERE ref IN (SELECT blob FROM blob_uses JOIN removed ON removed.ref = blob_uses.task)
      AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.ref AND task NOT IN (SELECT ref FROM removed))`)
  // Without its own retention, a delivery goes with its task.
  const pushes = database.prepare<EstimateRow>(`
    WITH removed AS MATERIALIZED (${removed})
    SELECT count(*) AS rows, sum(octet_length(config)) AS bytes, min(pushes.created_at) AS oldest,
      max(pushes.created_at) AS newest FROM pushes JOIN tasks ON tasks.ref = pushes.task
    WHERE pushes.task IN (SELECT ref FROM removed)
      OR (pushes.state IN ('done', 'dead') AND tasks.finished = 1 AND tasks.status_at < ?2)`)
  const attempts = database.prepare<EstimateRow>(`
    WITH removed AS MATERIALIZED (${removed})
    SELECT count(*) AS rows, sum(octet_length(outcome) + coalesce(octet_length(answer), 0) + 60) AS bytes, min(at) AS oldest,
      max(at) AS newest FROM push_attempts WHERE task IN (SELECT ref FROM removed) OR at < ?2`)
  const claims = database.prepare<EstimateRow>(`
    SELECT count(*) AS rows, count(*) * 120 AS bytes, min(expires_at) AS oldest, max(expires_at) AS newest FROM (
      SELECT expires_at FROM messages WHERE expires_at <= ?1
      UNION ALL SELECT expires_at FROM sealed_messages WHERE expires_at <= ?1)`)
  const entries = database.prepare<EstimateRow & { kind: Uint8Array }>(`
    SELECT kind, count(*) AS rows, sum(octet_length(key) + octet_length(value)) AS bytes, min(updated_at) AS oldest,
      max(updated_at) AS newest FROM notes WHERE expires_at IS NOT NULL AND expires_at <= ? GROUP BY kind ORDER BY kind`)

  return function previewPrune(retention: Omit<Retention, 'batch'>): readonly PruneEstimate[] {
    const { finishedBefore, maxTasks, logBefore = -never, deliveriesBefore = -never } = retention
    const aged = finishedBefore === undefined ? 0 : (older.get(finishedBefore)?.tasks ?? 0)
    const excess = maxTasks === undefined ? 0 : counters.total() - maxTasks
    const limit = Math.max(aged, excess, 0)
    const of = (kind: PruneKind, row: EstimateRow | undefined): readonly PruneEstimate[] =>
      row === undefined ? [] : estimateOf({ kind, ...row })
    return [
      ...of('tasks', tasks.get(limit)),
      ...of('logs', logs.get(limit, logBefore)),
      ...of('snapshots', snapshots.get(limit)),
      ...of('blobs', blobs.get(limit)),
      ...of('pushConfigs', pushes.get(limit, deliveriesBefore)),
      ...of('pushAttempts', attempts.get(limit, deliveriesBefore)),
      ...of('messageClaims', claims.get(steady(now()))),
      ...entries.all(now()).flatMap((row) => estimateOf({ ...row, kind: 'entries' }, keyFromBytes(row.kind))),
    ]
  }
}
