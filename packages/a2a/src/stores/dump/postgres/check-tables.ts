/** Checks of a store in PostgreSQL that only the database can make: indexes, checksums, counters, rows that belong to nothing. */
import { type ChecksummedTable, checksummedTables } from '../../dump-access.ts'
import { decodeText, nameDigest, ownerKey, partitionKey } from '../../postgres/dump-access.ts'
import { textChecksum } from '../entry-row.ts'
import {
  finishedStates,
  maxFindingsPerCheck,
  type QueryCheck,
  type ReportFinding,
  stateName,
} from '../store-finding.ts'
import { checkPostgresIndexes } from './check-indexes.ts'
import { eachRow, openPages, type PostgresTransaction } from './transaction.ts'

function queryChecks(schema: string): readonly QueryCheck[] {
  return [
    {
      name: 'counters',
      kind: 'counter',
      table: 'counters',
      sql: `
        SELECT NULL AS task_id, 'The counter of ' || coalesce(t.agent, 'an agent without tasks') || ' in ' || ${stateName} || ' says '
          || coalesce(c.tasks, 0) || '; there are ' || coalesce(t.tasks, 0) || ' tasks of this caller' AS message
        FROM (SELECT owner_key, partition_key, state, sum(tasks) AS tasks FROM ${schema}.counters GROUP BY 1, 2, 3) AS c
        FULL JOIN (
          SELECT owner_key, partition_key, state, count(*) AS tasks, min(agent) AS agent FROM ${schema}.tasks GROUP BY 1, 2, 3
        ) AS t USING (owner_key, partition_key, state)
        WHERE coalesce(c.tasks, 0) <> coalesce(t.tasks, 0)`,
    },
    {
      name: 'marks of push notification configs',
      kind: 'counter',
      table: 'tasks',
      sql: `
        SELECT t.id AS task_id, 'The row says that the task has no push notification config; there is one' AS message
        FROM ${schema}.tasks AS t WHERE NOT pushed AND EXISTS (SELECT FROM ${schema}.pushes AS p WHERE p.task = t.ref)`,
    },
    {
      name: 'states of tasks',
      kind: 'row',
      table: 'tasks',
      sql: `
        SELECT id AS task_id, 'The columns of the state contradict each other or the status' AS message FROM ${schema}.tasks
        WHERE finished <> (state IN (${finishedStates})) OR (finished AND due_at IS NOT NULL)
          OR position('"state":"' || ${stateName} || '"' IN status) = 0`,
    },
    {
      name: 'tasks of blobs',
      kind: 'orphan',
      table: 'blobs',
      sql: `
        SELECT NULL AS task_id, 'The blob ' || digest || ' belongs to no task (ref ' || task || ')' AS message FROM ${schema}.blobs AS b
        WHERE NOT EXISTS (SELECT FROM ${schema}.tasks AS t WHERE t.ref = b.task)`,
    },
    {
      name: 'tasks of claims',
      kind: 'orphan',
      table: 'messages',
      sql: `
        SELECT task_id, 'A message claim belongs to a task that does not exist' AS message FROM ${schema}.messages AS m
        WHERE NOT EXISTS (SELECT FROM ${schema}.tasks AS t WHERE t.id = m.task_id)`,
    },
    {
      name: 'positions of the feed',
      kind: 'feed',
      table: 'log',
      sql: `
        SELECT NULL AS task_id, 'The next append would get a position before ' || max(position)
          || ': start the hub once, which corrects it' AS message
        FROM ${schema}.log, ${schema}.feed_base GROUP BY base
        HAVING max(position) >= (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + base) * 1024`,
    },
  ]
}

/** `schema` is quoted. */
export async function* checkPostgresTables(
  transaction: PostgresTransaction,
  schema: string,
  report: ReportFinding,
): AsyncGenerator<string, void, undefined> {
  yield* checkPostgresIndexes(transaction, schema, report)
  for (const { name, kind, table, sql } of queryChecks(schema)) {
    yield name
    const rows = await transaction.query<{ task_id: string | null; message: string }>(
      `SELECT task_id, message FROM (${sql}) AS found LIMIT ${maxFindingsPerCheck}`,
    )
    for (const row of rows) report({ kind, table, message: row.message, ...taskIdOf(row) })
  }
  yield 'keys of names'
  await checkNames(transaction, schema, report)
  for (const table of checksummedTables) {
    yield `checksums of ${table.table}`
    await checkSums(transaction, schema, table, report)
  }
}

/** Lists find a task by digests of names. */
async function checkNames(transaction: PostgresTransaction, schema: string, report: ReportFinding): Promise<void> {
  const digest = (column: string): string => `replace(t.${column}::text, '-', '') AS ${column}`
  const nameColumns = ['id', 'tenant', 'agent', 'owner', digest('partition_key'), digest('owner_key')].join(', ')
  const tasks = await openPages(transaction, 'names_of_tasks', () => nameColumns, `${schema}.tasks AS t`)
  for await (const row of eachRow(tasks)) {
    const partition = { tenant: decoded(row['tenant']), agent: decoded(row['agent']), owner: decoded(row['owner']) }
    const isRight =
      partitionKey(partition) === row['partition_key'] &&
      ownerKey(partition.tenant, partition.owner) === row['owner_key']
    if (isRight) continue
    const message = 'The keys of the tenant, agent and owner are wrong: no list has the task'
    report({ kind: 'row', table: 'tasks', taskId: decoded(row['id']), message })
  }
  const pushes = await openPages(
    transaction,
    'names_of_pushes',
    () => `t.id, ${digest('key')}, tasks.id AS task_id`,
    `${schema}.pushes AS t LEFT JOIN ${schema}.tasks ON tasks.ref = t.task`,
  )
  for await (const row of eachRow(pushes)) {
    const id = decoded(row['id'])
    if (nameDigest(id) === row['key']) continue
    const message = `The key of the push notification config ${id} is wrong`
    report({ kind: 'push', table: 'pushes', message, ...taskIdOf(row) })
  }
}

async function checkSums(
  transaction: PostgresTransaction,
  schema: string,
  { table, texts }: ChecksummedTable,
  report: ReportFinding,
): Promise<void> {
  const seq = table === 'log' ? 'first_seq' : 'seq'
  const next = await openPages(
    transaction,
    `sums_of_${table}`,
    (text) =>
      `t.${seq}, t.checksum, tasks.id AS task_id, ${texts.map((name) => `${text(`t.${name}`)} AS ${name}`).join(', ')}`,
    `${schema}.${table} AS t LEFT JOIN ${schema}.tasks ON tasks.ref = t.task`,
  )
  for await (const row of eachRow(next)) {
    if (textChecksum(...texts.map((name) => row[name] as string)) === Number(row['checksum'])) continue
    const message = `The stored ${texts.join(' or ')} was changed: its checksum differs`
    report({ kind: 'checksum', table, seq: Number(row[seq]), message, ...taskIdOf(row) })
  }
}

function decoded(text: unknown): string {
  return decodeText(text as string)
}

function taskIdOf({ task_id }: Readonly<Record<string, unknown>>): { readonly taskId?: string } {
  return task_id === null ? {} : { taskId: decoded(task_id) }
}
