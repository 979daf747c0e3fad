/** Checks of a SQLite store that only the database can make: pages and indexes, checksums, counters, rows that belong to nothing. */
import { type ChecksummedTable, checksummedTables } from '../../dump-access.ts'
import { isCorrupt, mightContain, type SqliteDatabase } from '../../sqlite/dump-access.ts'
import { textChecksum } from '../entry-row.ts'
import {
  finishedStates,
  maxFindingsPerCheck,
  type QueryCheck,
  type ReportFinding,
  stateName,
} from '../store-finding.ts'

const queryChecks: readonly QueryCheck[] = [
  {
    name: 'counters',
    kind: 'counter',
    table: 'counters',
    sql: `
      SELECT NULL AS task_id, 'The counter of ' || agent || ' in ' || ${stateName} || ' says ' || coalesce(c.tasks, 0)
        || '; there are ' || coalesce(t.tasks, 0) || ' tasks of this caller' AS message
      FROM counters AS c FULL JOIN (SELECT tenant, owner, agent, state, count(*) AS tasks FROM tasks GROUP BY 1, 2, 3, 4) AS t
        USING (tenant, owner, agent, state)
      WHERE coalesce(c.tasks, 0) <> coalesce(t.tasks, 0)`,
  },
  {
    name: 'counted push notification configs',
    kind: 'counter',
    table: 'tasks',
    sql: `
      SELECT id AS task_id, 'The row says ' || pushes || ' active push notification configs; there are ' || active AS message
      FROM (SELECT id, pushes, (SELECT count(*) FROM pushes WHERE task = tasks.ref AND state = 'active') AS active FROM tasks)
      WHERE pushes <> active`,
  },
  {
    name: 'states of tasks',
    kind: 'row',
    table: 'tasks',
    sql: `
      SELECT id AS task_id, 'The columns of the state contradict each other or the status' AS message FROM tasks
      WHERE finished <> (state IN (${finishedStates})) OR (finished = 1 AND due_at IS NOT NULL)
        OR (substr(status, 1, 1) <> '@' AND instr(status, '"state":"' || ${stateName} || '"') = 0)`,
  },
  {
    name: 'users of blobs',
    kind: 'orphan',
    table: 'blob_uses',
    sql: `
      SELECT tasks.id AS task_id, CASE WHEN tasks.id IS NULL THEN 'A blob is used by a task that does not exist (ref ' || task || ')'
        ELSE 'The task uses a blob that does not exist (ref ' || blob || ')' END AS message
      FROM blob_uses LEFT JOIN tasks ON tasks.ref = task LEFT JOIN blobs ON blobs.ref = blob
      WHERE tasks.ref IS NULL OR blobs.ref IS NULL`,
  },
  {
    name: 'unused blobs',
    kind: 'orphan',
    table: 'blobs',
    sql: `
      SELECT NULL AS task_id, 'No task uses the blob ' || digest AS message FROM blobs
      WHERE NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.ref)`,
  },
  {
    name: 'generations of claims',
    kind: 'orphan',
    table: 'sealed_messages',
    sql: `
      SELECT task_id, 'A message claim belongs to no generation (' || generation || ')' AS message FROM sealed_messages AS s
      WHERE NOT EXISTS (SELECT 1 FROM message_generations AS g WHERE g.generation = s.generation)`,
  },
]

export async function* checkSqliteTables(
  database: SqliteDatabase,
  report: ReportFinding,
): AsyncGenerator<string, void, undefined> {
  // Table by table, so that a long check shows progress.
  const tables = database.prepare<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`)
  for (const { name: table } of tables.all()) {
    yield `pages and indexes of ${table}`
    checkPages(database, table, report)
  }
  for (const check of queryChecks) {
    yield check.name
    guarded(check.table, report, () => runQuery(database, check, report))
  }
  for (const table of checksummedTables) {
    yield `checksums of ${table.table}`
    guarded(table.table, report, () => checkSums(database, table, report))
  }
  yield 'filters of claims'
  guarded('message_generations', report, () => checkFilters(database, report))
}

function checkPages(database: SqliteDatabase, table: string, report: ReportFinding): void {
  const rows = guarded(table, report, () =>
    database.prepare<{ integrity_check: string }>(`PRAGMA integrity_check("${table.replaceAll('"', '""')}")`).all(),
  )
  for (const { integrity_check: message } of rows ?? []) {
    if (message !== 'ok') report({ kind: 'index', table, message: message.replaceAll(/\s+/g, ' ') })
  }
}

/** A damaged page ends the check of a table, not of the store. */
function guarded<Result>(table: string, report: ReportFinding, run: () => Result): Result | undefined {
  try {
    return run()
  } catch (error) {
    if (!isCorrupt(error)) throw error
    report({ kind: 'index', table, message: `A page of the file cannot be read (${error.message})` })
    return undefined
  }
}

function runQuery(database: SqliteDatabase, { kind, table, sql }: QueryCheck, report: ReportFinding): void {
  const found = database.prepare<{ task_id: string | null; message: string }>(`${sql} LIMIT ${maxFindingsPerCheck}`)
  for (const { task_id, message } of found.iterate()) {
    report({ kind, table, message, ...(task_id === null ? {} : { taskId: task_id }) })
  }
}

interface ChecksumRow extends Record<string, unknown> {
  readonly checksum: number
  readonly seq: number
  readonly task_id: string | null
}

function checkSums(database: SqliteDatabase, { table, key, texts }: ChecksummedTable, report: ReportFinding): void {
  const seq = table === 'log' ? 'first_seq' : 'seq'
  const taskOf = database.prepare<{ id: string }>('SELECT id FROM tasks WHERE ref = ?')
  const all = database.prepare<ChecksumRow & { readonly task: number }>(
    `SELECT task, ${seq} AS seq, checksum, ${texts.join(', ')} FROM ${table} ORDER BY ${key}`,
  )
  for (const row of all.iterate()) {
    if (textChecksum(...texts.map((name) => row[name] as string)) === row.checksum) continue
    const taskId = taskOf.get(row.task)?.id
    const message = `The stored ${texts.join(' or ')} was changed: its checksum differs`
    report({ kind: 'checksum', table, seq: row.seq, message, ...(taskId === undefined ? {} : { taskId }) })
  }
}

/** A claim that its filter excludes is never found, and its message would be accepted twice. */
function checkFilters(database: SqliteDatabase, report: ReportFinding): void {
  const generations = database.prepare<{ generation: number; filter: Uint8Array }>(
    'SELECT generation, filter FROM message_generations',
  )
  const claims = database.prepare<{ key: Uint8Array; task_id: string }>(
    'SELECT key, task_id FROM sealed_messages WHERE generation = ?',
  )
  for (const { generation, filter } of generations.all()) {
    const words = new Uint32Array(filter.buffer.slice(filter.byteOffset, filter.byteOffset + filter.byteLength))
    let left = maxFindingsPerCheck
    for (const { key, task_id } of claims.iterate(generation)) {
      if (mightContain(words, Buffer.from(key).toString('latin1'))) continue
      const message = `The filter of generation ${generation} excludes a message claim: a repeated message would not be recognized`
      report({ kind: 'claim', table: 'message_generations', taskId: task_id, message })
      if ((left -= 1) === 0) break
    }
  }
}
