/** What a prune would remove: the same conditions as in `prune_1`, as counts. Changes nothing. */
import { keyFromBytes } from '../key-value-keys.ts'
import { type EstimateColumns, estimateOf } from '../prune-estimate.ts'
import type { PruneEstimate, Retention } from '../store.ts'
import { type DatabaseTime, type PostgresDatabase, currentTimeSql } from './database.ts'
import { toPostgresInteger } from './text-encoding.ts'

type KindColumns = EstimateColumns & { readonly entry_kind: Uint8Array | null }

/** No clock reaches it. */
const never = Number.MAX_SAFE_INTEGER

export function createPostgresPreviewPrune(
  database: PostgresDatabase,
  schema: string,
  { now, offsetFromNow }: DatabaseTime,
) {
  const moment = currentTimeSql('$1')
  const removable = `t.finished AND NOT (
    t.pushed AND EXISTS (SELECT FROM ${schema}.pushes AS p WHERE p.task = t.ref AND p.state = 'active'))`
  const estimate = (kind: string, rows: string, bytes: string, time: string): string =>
    `SELECT '${kind}' AS kind, NULL::bytea AS entry_kind, count(*) AS rows, coalesce(sum(${bytes}), 0) AS bytes,
      min(${time}) AS oldest, max(${time}) AS newest FROM ${rows}`
  const preview = `
    WITH aged AS (
      SELECT count(*) AS tasks FROM ${schema}.tasks AS t WHERE ${removable} AND t.status_at < ${moment} + $2::bigint
    ), surplus AS (
      SELECT coalesce(sum(tasks), 0) - $3::bigint AS tasks FROM ${schema}.counters
    ), removed AS MATERIALIZED (
      SELECT t.ref, t.id, t.status_at, t.status, t.metadata FROM ${schema}.tasks AS t WHERE ${removable}
      ORDER BY t.status_at, t.id LIMIT (SELECT greatest(aged.tasks, coalesce(surplus.tasks, 0), 0) FROM aged, surplus)
    ), covered AS (
      SELECT t.ref, t.status_at FROM ${schema}.tasks AS t WHERE ${removable} AND NOT t.log_dropped
        AND t.status_at < ${moment} + $4::bigint AND t.ref NOT IN (SELECT ref FROM removed)
        AND EXISTS (SELECT FROM ${schema}.snapshots AS s WHERE s.task = t.ref AND s.seq >= t.head)
    ), dropped AS (
      SELECT ref, status_at FROM removed UNION ALL SELECT ref, status_at FROM covered
    ), ended AS (
      SELECT p.* FROM ${schema}.pushes AS p JOIN ${schema}.tasks AS t ON t.ref = p.task
      WHERE p.task IN (SELECT ref FROM removed) OR (p.state IN ('done', 'dead') AND t.finished AND t.status_at < $5::bigint)
    ), tried AS (
      SELECT a.* FROM ${schema}.push_attempts AS a WHERE a.task IN (SELECT ref FROM removed) OR a.at < $5::bigint
    ), claims AS (
      SELECT expires_at FROM ${schema}.messages
      WHERE expires_at <= ${moment} OR task_id IN (SELECT id FROM removed)
    )
    ${[
      estimate('tasks', 'removed', 'octet_length(status) + coalesce(octet_length(metadata), 0) + 300', 'status_at'),
      estimate(
        'logs',
        `${schema}.log AS l JOIN dropped ON dropped.ref = l.task`,
        'octet_length(l.records)',
        'status_at',
      ),
      estimate(
        'snapshots',
        `${schema}.snapshots AS s JOIN removed ON removed.ref = s.task`,
        'octet_length(folded) + octet_length(internal)',
        'status_at',
      ),
      estimate(
        'blobs',
        `${schema}.blobs AS b JOIN removed ON removed.ref = b.task`,
        'octet_length(content)',
        'NULL::bigint',
      ),
      estimate('pushConfigs', 'ended', 'octet_length(config)', 'created_at'),
      estimate('pushAttempts', 'tried', "octet_length(outcome) + octet_length(coalesce(answer, '')) + 60", 'at'),
      estimate('messageClaims', 'claims', '120', 'expires_at'),
    ].join(' UNION ALL ')}
    UNION ALL (
      SELECT 'entries', n.kind, count(*), sum(octet_length(n.key) + octet_length(n.value)), min(n.updated_at),
        max(n.updated_at)
      FROM ${schema}.notes AS n WHERE n.expires_at IS NOT NULL AND n.expires_at <= ${moment} GROUP BY n.kind ORDER BY n.kind)`

  return async function previewPrune(retention: Omit<Retention, 'batch'>): Promise<readonly PruneEstimate[]> {
    const { finishedBefore, maxTasks, logBefore, deliveriesBefore = -never } = retention
    const rows = await database.query<KindColumns>(
      preview,
      now(),
      finishedBefore === undefined ? null : offsetFromNow(finishedBefore),
      maxTasks ?? null,
      logBefore === undefined ? null : offsetFromNow(logBefore),
      toPostgresInteger(deliveriesBefore),
    )
    return rows.flatMap(({ entry_kind: entryKind, ...row }) =>
      estimateOf(row, entryKind === null ? undefined : keyFromBytes(entryKind)),
    )
  }
}
