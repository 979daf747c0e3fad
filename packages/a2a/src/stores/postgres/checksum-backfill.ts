/**
 * Adds the checksum to rows of older versions, some at a time. Of several replicas one holds the backfill; if it ends, another one
 * continues from the cursor, which moves in the statement that fills the rows.
 */
import { crc32 } from 'node:zlib'
import type { Backfill, BackfillProgress } from '../backfill.ts'
import { type ChecksummedTable, checksummedTables } from '../migration-step.ts'
import type { PostgresDatabase } from './database.ts'

/** Rows looked at by one statement, and the bytes of text that it returns, apart from a first longer one. */
const rowsPerBatch = 1_000
const bytesPerBatch = 2_000_000
const holdFor = `interval '30 seconds'`

interface BackfillRow {
  readonly cursor: unknown
  readonly until: unknown
  readonly filled: unknown
}

export function createChecksumBackfills(database: PostgresDatabase, schema: string): readonly Backfill[] {
  const holder = crypto.randomUUID()
  const horizon = `(SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + base) * 1024 FROM ${schema}.feed_base)`
  const end = `coalesce((SELECT max(position) FROM ${schema}.log WHERE position < ${horizon}), 0)`
  // An open transaction, also of another database, may still append before these rows: the cursor must not pass them yet.
  const hasLater = `EXISTS (SELECT FROM ${schema}.log WHERE position >= ${horizon} AND checksum IS NULL)`
  // A replica of an older version has appended since. The minute covers its appends that are not visible yet.
  const extend = `
    UPDATE ${schema}.backfills AS b SET until = ${end}, finished_at = NULL,
      until_at = CASE WHEN ${hasLater} THEN b.until_at ELSE now() - interval '1 minute' END
    WHERE name = 'log' AND EXISTS (SELECT FROM ${schema}.writers AS w WHERE w.unchecked AND w.seen_at >= b.until_at)
    RETURNING ${hasLater} AS has_later`
  const hold = `
    UPDATE ${schema}.backfills SET holder = $2, held_until = now() + ${holdFor}
    WHERE name = $1 AND finished_at IS NULL AND (holder = $2 OR held_until IS NULL OR held_until < now())
    RETURNING cursor, until, filled`
  const isFinished = `SELECT FROM ${schema}.backfills WHERE name = $1 AND finished_at IS NOT NULL`

  function backfillOf({ table, key, texts }: ChecksummedTable): Backfill {
    let hasLaterRows = false
    const length = texts.map((name) => `octet_length(${name})`).join(' + ')
    const read = `
      SELECT key, is_missing, ${texts.join(', ')} FROM (
        SELECT key, is_missing, ${texts.join(', ')}, sum(bytes) OVER (ORDER BY key) - bytes AS before FROM (
          SELECT ${key} AS key, checksum IS NULL AS is_missing, CASE WHEN checksum IS NULL THEN ${length} ELSE 0 END AS bytes,
            ${texts.map((name) => `CASE WHEN checksum IS NULL THEN ${name} END AS ${name}`).join(', ')}
          FROM ${schema}.${table} WHERE ${key} > $1 AND ${key} <= $2 ORDER BY ${key} LIMIT ${rowsPerBatch}
        ) AS page
      ) AS sized WHERE before < ${bytesPerBatch} ORDER BY key`
    // Nothing is filled if another replica has taken over meanwhile.
    const fill = `
      WITH moved AS (
        UPDATE ${schema}.backfills SET cursor = $4, filled = filled + cardinality($5::bigint[]),
          held_until = CASE WHEN $4 < until THEN now() + ${holdFor} END, finished_at = CASE WHEN $4 >= until THEN now() END
        WHERE name = $1 AND holder = $2 AND cursor = $3 RETURNING filled
      ), changed AS (
        UPDATE ${schema}.${table} AS t SET checksum = given.checksum
        FROM moved, unnest($5::bigint[], $6::bigint[]) AS given (key, checksum)
        WHERE t.${key} = given.key AND t.checksum IS NULL
      )
      SELECT filled FROM moved`

    async function batch({ cursor, until }: BackfillProgress): Promise<BackfillProgress | 'busy' | undefined> {
      const rows = await database.queryWithRetry<Record<string, unknown>>(read, cursor, until)
      const missing = rows.filter(({ is_missing }) => is_missing === true)
      const sums = missing.map((row) => texts.reduce((sum, name) => crc32(row[name] as string, sum), 0))
      const last = rows.at(-1)?.['key']
      const reached = last === undefined ? until : Number(last)
      const keys = missing.map((row) => row['key'])
      const [moved] = await database.query<{ filled: unknown }>(fill, table, holder, cursor, reached, keys, sums)
      if (moved === undefined) return 'busy'
      if (reached < until) return { cursor: reached, until, rows: Number(moved.filled) }
      return hasLaterRows ? 'busy' : undefined
    }

    return {
      name: `checksums of ${table}`,
      async begin() {
        if (table === 'log') {
          const [extended] = await database.queryWithRetry<{ has_later: boolean }>(extend)
          hasLaterRows = extended?.has_later === true
        }
        const [held] = await database.queryWithRetry<BackfillRow>(hold, table, holder)
        if (held !== undefined) return progressOf(held)
        return (await database.queryWithRetry(isFinished, table)).length > 0 ? undefined : 'busy'
      },
      batch,
    }
  }

  return checksummedTables.map(backfillOf)
}

function progressOf({ cursor, until, filled }: BackfillRow): BackfillProgress {
  return { cursor: Number(cursor), until: Number(until), rows: Number(filled) }
}
