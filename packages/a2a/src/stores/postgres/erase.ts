/**
 * Erases tasks and key-value entries, each call in one statement. A concurrent append waits for the row of its task and then finds
 * none. VACUUM makes the space of removed rows available for new ones; only `VACUUM FULL`, which locks the tables, rewrites them.
 */
import type { Compaction, ErasedCounts, EraseOrder, OrphanCounts } from '../erasure-store.ts'
import { keyToBytes } from '../key-value-keys.ts'
import type { PostgresDatabase } from './database.ts'
import { decodeText, encodeText } from './text-encoding.ts'

/** Everything that `erase` and `removeOrphans` change. */
const tables = [
  'tasks',
  'log',
  'snapshots',
  'blobs',
  'pushes',
  'push_attempts',
  'messages',
  'counters',
  'notes',
] as const
/** Tables whose rows belong to a task, by its `ref`. */
const ownTables = ['log', 'snapshots', 'blobs', 'pushes', 'push_attempts'] as const

type CountColumns = Readonly<Record<(typeof ownTables)[number] | 'tasks' | 'entries' | 'replaced', unknown>> & {
  readonly owner_keys: readonly string[] | null
  readonly refs: readonly unknown[] | null
}

/** `patient` has a timeout for statements that read or write whole tables. */
export function createPostgresErase(database: PostgresDatabase, patient: PostgresDatabase, schema: string) {
  const removal = (table: string): string =>
    `removed_${table} AS (DELETE FROM ${schema}.${table} WHERE task IN (SELECT ref FROM doomed) RETURNING 1)`
  const erase = `
    WITH doomed AS MATERIALIZED (
      SELECT ref, id, owner_key, partition_key, state FROM ${schema}.tasks WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE
    ), ${ownTables.map(removal).join(', ')}, removed_messages AS (
      DELETE FROM ${schema}.messages WHERE task_id IN (SELECT id FROM doomed)
    ), counted AS (
      INSERT INTO ${schema}.counters AS c (owner_key, partition_key, state, shard, tasks)
      SELECT owner_key, partition_key, state, 0, -count(*) FROM doomed GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      ON CONFLICT (owner_key, partition_key, state, shard) DO UPDATE SET tasks = c.tasks + excluded.tasks
    ), removed_tasks AS (
      DELETE FROM ${schema}.tasks WHERE ref IN (SELECT ref FROM doomed) RETURNING 1
    ), removed_entries AS (
      DELETE FROM ${schema}.notes AS n USING unnest($2::bytea[], $3::bytea[]) AS given (kind, key)
      WHERE n.kind = given.kind AND n.key = given.key RETURNING 1
    ), replaced_entries AS (
      UPDATE ${schema}.notes AS n SET value = given.value, version = n.version + 1
      FROM unnest($4::bytea[], $5::bytea[], $6::text[]) AS given (kind, key, value)
      WHERE n.kind = given.kind AND n.key = given.key RETURNING 1
    )
    SELECT ${ownTables.map((table) => `(SELECT count(*) FROM removed_${table}) AS ${table}`).join(', ')},
      (SELECT count(*) FROM removed_tasks) AS tasks, (SELECT count(*) FROM removed_entries) AS entries,
      (SELECT count(*) FROM replaced_entries) AS replaced,
      (SELECT array_agg(DISTINCT owner_key::text) FROM doomed) AS owner_keys,
      (SELECT array_agg(ref) FROM doomed) AS refs`
  // A statement does not see what it inserts: the counts that have come to nothing go in a second one. They name their owner by a
  // hash, which must not stay.
  const dropEmptyCounters = `
    WITH mine AS MATERIALIZED (
      SELECT * FROM ${schema}.counters WHERE owner_key = ANY ($1::uuid[])
      ORDER BY owner_key, partition_key, state, shard FOR UPDATE
    ), over AS (
      SELECT owner_key, partition_key, state FROM mine GROUP BY 1, 2, 3 HAVING sum(tasks) = 0
    )
    DELETE FROM ${schema}.counters AS c USING mine JOIN over USING (owner_key, partition_key, state)
    WHERE c.owner_key = mine.owner_key AND c.partition_key = mine.partition_key AND c.state = mine.state AND c.shard = mine.shard`
  // The first statement does not see what an append committed while it waited for the row of the task. From now on there are none.
  const dropLateRows = `
    WITH ${ownTables.map((table) => `late_${table} AS (DELETE FROM ${schema}.${table} WHERE task = ANY ($1::bigint[]))`).join(', ')}
    SELECT 1`
  const owners = `SELECT DISTINCT owner FROM ${schema}.tasks WHERE right(owner, length($1)) = $1`
  const orphanClaims = `WITH gone AS (
      DELETE FROM ${schema}.messages AS m WHERE NOT EXISTS (SELECT FROM ${schema}.tasks AS t WHERE t.id = m.task_id) RETURNING 1)
    SELECT count(*) AS rows FROM gone`
  const orphanRows = (table: string): string => `WITH gone AS (
      DELETE FROM ${schema}.${table} AS o WHERE NOT EXISTS (SELECT FROM ${schema}.tasks AS t WHERE t.ref = o.task) RETURNING 1)
    SELECT count(*) AS rows FROM gone`
  const sizes = `SELECT sum(pg_total_relation_size(format('%s.%I', $1::text, name)::regclass)) AS bytes
    FROM unnest($2::text[]) AS name`

  async function countOf(statement: string): Promise<number> {
    const [row] = await patient.query<{ rows: unknown }>(statement)
    return Number(row?.rows ?? 0)
  }

  async function bytes(): Promise<number> {
    const [row] = await patient.query<{ bytes: unknown }>(sizes, schema, [...tables])
    return Number(row?.bytes ?? 0)
  }

  return {
    async findOwners(suffix: string): Promise<readonly string[]> {
      if (suffix === '') return []
      const rows = await patient.query<{ owner: string }>(owners, encodeText(suffix))
      return rows.map(({ owner }) => decodeText(owner))
    },
    async erase({ taskIds = [], entries = [], replacements = [] }: EraseOrder): Promise<ErasedCounts> {
      const places = (given: EraseOrder['entries'] = []): readonly (readonly Buffer[])[] => [
        given.map(({ kind }) => Buffer.from(keyToBytes(kind))),
        given.map(({ key }) => Buffer.from(keyToBytes(key))),
      ]
      const values = replacements.map(({ value }) => JSON.stringify(value))
      const [row] = await database.query<CountColumns>(
        erase,
        taskIds.map(encodeText),
        ...places(entries),
        ...places(replacements),
        values,
      )
      if (row?.refs) await database.query(dropLateRows, row.refs)
      if (row?.owner_keys) await database.query(dropEmptyCounters, row.owner_keys)
      return {
        tasks: Number(row?.tasks),
        logBatches: Number(row?.log),
        snapshots: Number(row?.snapshots),
        blobs: Number(row?.blobs),
        pushConfigs: Number(row?.pushes),
        pushAttempts: Number(row?.push_attempts),
        entries: Number(row?.entries),
        replaced: Number(row?.replaced),
      }
    },
    async removeOrphans(): Promise<OrphanCounts> {
      const messageClaims = await countOf(orphanClaims)
      let rows = 0
      for (const table of ownTables) rows += await countOf(orphanRows(table))
      return { messageClaims, rows }
    },
    async compact(): Promise<Compaction> {
      const bytesBefore = await bytes()
      // One statement for each: VACUUM cannot run in a transaction, and several tables in one statement hold their locks longer.
      for (const table of tables) await patient.query(`VACUUM ${schema}.${table}`)
      return { isDone: true, bytesBefore, bytesAfter: await bytes() }
    },
  }
}
