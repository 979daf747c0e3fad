/**
 * Checks the indexes: by amcheck, if the database has the extension and the role may call it. Otherwise each index that covers its
 * whole table is compared with the table, by the number of rows that a scan of either finds.
 */
import type { ReportFinding } from '../store-finding.ts'
import type { PostgresTransaction } from './transaction.ts'

interface IndexRow {
  readonly name: string
  readonly table_name: string
  /** The first column; `null` if it is an expression. */
  readonly column_name: string | null
  readonly is_whole: boolean
}

export async function* checkPostgresIndexes(
  { query }: PostgresTransaction,
  schema: string,
  report: ReportFinding,
): AsyncGenerator<string, void, undefined> {
  const indexes = await query<IndexRow>(
    `SELECT i.relname AS name, t.relname AS table_name, a.attname AS column_name, x.indpred IS NULL AS is_whole
    FROM pg_index AS x JOIN pg_class AS i ON i.oid = x.indexrelid JOIN pg_class AS t ON t.oid = x.indrelid
    JOIN pg_am ON pg_am.oid = i.relam AND pg_am.amname = 'btree'
    LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0] AND x.indkey[0] > 0
    WHERE t.relnamespace = to_regnamespace($1) AND t.relkind = 'r' ORDER BY t.relname, i.relname`,
    schema,
  )
  const amcheck = await amcheckFunction(query)
  for (const index of indexes) {
    yield `index ${index.name}`
    const damage =
      amcheck === undefined
        ? await compareCounts(query, schema, index)
        : await runAmcheck(query, schema, amcheck, index)
    if (damage !== undefined) report({ kind: 'index', table: index.table_name, message: damage })
  }
}

/** `undefined` if it cannot be called. */
async function amcheckFunction(query: PostgresTransaction['query']): Promise<string | undefined> {
  const [found] = await query<{ name: string; may_run: boolean }>(
    `SELECT quote_ident(n.nspname) || '.bt_index_check' AS name, has_function_privilege(p.oid, 'EXECUTE') AS may_run
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.proname = 'bt_index_check' AND p.pronargs = 2`,
  )
  return found?.may_run === true ? found.name : undefined
}

async function runAmcheck(
  query: PostgresTransaction['query'],
  schema: string,
  amcheck: string,
  { name }: IndexRow,
): Promise<string | undefined> {
  // An error would end the transaction, and with it the moment that all checks see.
  await query('SAVEPOINT amcheck')
  try {
    await query(`SELECT ${amcheck}($1::regclass, true)`, `${schema}.${quoted(name)}`)
    return undefined
  } catch (error) {
    await query('ROLLBACK TO SAVEPOINT amcheck')
    return `The index ${name} is damaged (${error instanceof Error ? error.message : String(error)})`
  } finally {
    await query('RELEASE SAVEPOINT amcheck')
  }
}

async function compareCounts(
  query: PostgresTransaction['query'],
  schema: string,
  { name, table_name, column_name, is_whole }: IndexRow,
): Promise<string | undefined> {
  if (!is_whole || column_name === null) return undefined
  const table = `${schema}.${quoted(table_name)}`
  const settings = ['enable_seqscan', 'enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan']
  const use = async (isIndex: boolean): Promise<void> => {
    for (const setting of settings) await query(`SET LOCAL ${setting} = ${(setting === 'enable_seqscan') !== isIndex}`)
  }
  const count = async (): Promise<number> => {
    // Ordered by the column, so that the plan reads this index or another one that begins with it.
    const sql = `SELECT count(*) AS rows FROM (SELECT ${quoted(column_name)} FROM ${table} ORDER BY 1 OFFSET 0) AS ordered`
    return Number((await query<{ rows: unknown }>(sql))[0]?.rows ?? 0)
  }
  await use(true)
  const inIndex = await count()
  await use(false)
  const inTable = await count()
  for (const setting of settings) await query(`SET LOCAL ${setting} = DEFAULT`)
  return inIndex === inTable ? undefined : `The index ${name} has ${inIndex} rows; the table has ${inTable}`
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
