/** Checks of a store in PostgreSQL that only the database can make: indexes, checksums, counters, rows that belong to nothing. */
import { textChecksum } from '../../dump/checksums.ts'
import { finishedStates, stateName } from '../../dump/state-sql.ts'
import { maxFindingsPerCheck, type QueryCheck, type ReportFinding } from '../../dump/store-finding.ts'
import { type ChecksummedTable, checksummedTables } from '../../migration-step.ts'
import { ownerKey, partitionKey } from '../append-row.ts'
import { decodeText, nameDigest } from '../text-encoding.ts'
import { checkPostgresIndexes } from './check-indexes.ts'
import { type PostgresTransaction, openPages, pageText } from './transaction.ts'

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
    for (const { task_id, message } of rows) {
      report({ kind, table, message, ...(task_id === null ? {} : { taskId: decodeText(task_id) }) })
    }
  }
  yield 'keys of names'
  await checkNames(transaction, schema, report)
  for (const table of checksummedTables) {
    yield `checksums of ${table.table}`
    await checkSums(transaction, schema, table, report)
  }
}

interface NameRow {
  readonly id: string
  readonly tenant: string
  readonly agent: string
  readonly owner: string
  readonly partition_key: string
  readonly owner_key: string
}

/** Lists find a task by digests of names. */
async function checkNames(transaction: PostgresTransaction, schema: string, report: ReportFinding): Promise<void> {
  const tasks = await openPages<NameRow>(
    transaction,
    'names_of_tasks',
    `SELECT id, tenant, agent, owner, replace(partition_key::text, '-', '') AS partition_key,
      replace(owner_key::text, '-', '') AS owner_key FROM ${schema}.tasks`,
  )
  for (let page = await tasks(); page.length > 0; page = await tasks()) {
    for (const row of page) {
      const partition = { tenant: decodeText(row.tenant), agent: decodeText(row.agent), owner: decodeText(row.owner) }
      const isRight =
        partitionKey(partition) === row.partition_key && ownerKey(partition.tenant, partition.owner) === row.owner_key
      if (isRight) continue
      const message = 'The keys of the tenant, agent and owner are wrong: no list has the task'
      report({ kind: 'row', table: 'tasks', taskId: decodeText(row.id), message })
    }
  }
  const pushes = await openPages<{ id: string; key: string; task_id: string | null }>(
    transaction,
    'names_of_pushes',
    `SELECT p.id, replace(p.key::text, '-', '') AS key, t.id AS task_id
    FROM ${schema}.pushes AS p LEFT JOIN ${schema}.tasks AS t ON t.ref = p.task`,
  )
  for (let page = await pushes(); page.length > 0; page = await pushes()) {
    for (const { id, key, task_id } of page) {
      if (nameDigest(decodeText(id)) === key) continue
      const message = `The key of the push notification config ${decodeText(id)} is wrong`
      report({ kind: 'push', table: 'pushes', message, ...(task_id === null ? {} : { taskId: decodeText(task_id) }) })
    }
  }
}

async function checkSums(
  transaction: PostgresTransaction,
  schema: string,
  { table, key, texts }: ChecksummedTable,
  report: ReportFinding,
): Promise<void> {
  const seq = table === 'log' ? 'first_seq' : 'seq'
  const next = await openPages<Record<string, unknown>>(
    transaction,
    `sums_of_${table}`,
    `SELECT r.${key} AS key, r.${seq} AS seq, r.checksum, t.id AS task_id,
      ${texts.map((name) => `${pageText(`r.${name}`)} AS ${name}`).join(', ')}
    FROM ${schema}.${table} AS r LEFT JOIN ${schema}.tasks AS t ON t.ref = r.task`,
  )
  const one = `SELECT ${texts.join(', ')} FROM ${schema}.${table} WHERE ${key} = $1`
  for (let page = await next(); page.length > 0; page = await next()) {
    for (const row of page) {
      const isLong = texts.some((name) => row[name] === null)
      const whole = isLong ? ((await transaction.query<Record<string, unknown>>(one, row['key']))[0] ?? row) : row
      if (textChecksum(...texts.map((name) => whole[name] as string)) === Number(row['checksum'])) continue
      const taskId = row['task_id'] === null ? {} : { taskId: decodeText(row['task_id'] as string) }
      const message = `The stored ${texts.join(' or ')} was changed: its checksum differs`
      report({ kind: 'checksum', table, seq: Number(row['seq']), message, ...taskId })
    }
  }
}
