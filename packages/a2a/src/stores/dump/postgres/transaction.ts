/** One transaction on a connection of its own, for as long as a store is read or loaded. */
import type { PostgresClient } from '../../postgres/dump-access.ts'
import type { EntryRow } from '../entry-row.ts'

export interface PostgresTransaction {
  query<Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
  /** Ends the transaction without the changes, and the connection. */
  close(): Promise<void>
}

/** Options of `postgresReader` and `postgresLoader`. */
export interface PostgresDumpOptions {
  /** Creates a client, such as `() => new pg.Client(url)`. */
  readonly connect: () => PostgresClient
  /** The schema of the tables. Default `parley`. */
  readonly schema?: string
}

/** `before` runs on the same connection, before the transaction begins. */
export async function beginTransaction(
  connect: () => PostgresClient,
  begin: string,
  before?: (query: PostgresTransaction['query']) => Promise<void>,
): Promise<PostgresTransaction> {
  const client = connect()
  // Without a listener a lost connection would end the process. The next statement fails with the same error.
  client.on('error', () => {})
  await client.connect()
  const query = async <Row>(text: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    (await client.query({ text, values: [...values] })).rows as Row[]
  let isClosed = false
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    // The server rolls back what was not committed.
    await client.end()
  }
  try {
    await before?.(query)
    await query(begin)
    // A server may end transactions that are long or idle for a while, as this one is when its file is slow.
    await query('SET LOCAL statement_timeout = 0')
    await query('SET LOCAL idle_in_transaction_session_timeout = 0')
    return { query, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A page of a query; an empty one is the last. */
export type NextPage = () => Promise<readonly EntryRow[]>

const rowsPerPage = 500
/** A row with a longer text is a page of its own, so that a page has at most 32 MB. */
const maxPageText = 65_536

/**
 * Opens a cursor of the server, with the name of the cursor and what it selects. `columns` passes those to `text` that may be long.
 * `from` begins with a table that has the alias `t`.
 */
export async function openPages(
  { query }: PostgresTransaction,
  name: string,
  columns: (text: (column: string) => string) => string,
  from: string,
  rest = '',
  ...values: readonly unknown[]
): Promise<NextPage> {
  const long = ['false']
  const short = columns((column) => {
    long.push(`octet_length(${column}) > ${maxPageText}`)
    return `CASE WHEN octet_length(${column}) <= ${maxPageText} THEN ${column} END`
  })
  const select = `SELECT t.ctid::text AS row_id, ${long.join(' OR ')} AS is_long, ${short} FROM ${from} ${rest}`
  await query(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`, ...values)
  const one = `SELECT ${columns((column) => column)} FROM ${from} WHERE t.ctid = $1::tid`
  let page: EntryRow[] = []
  return async () => {
    if (page.length === 0) page = [...(await query<EntryRow>(`FETCH ${rowsPerPage} FROM ${name}`))]
    const longRow = page.findIndex((row) => row['is_long'] === true)
    if (longRow !== 0) return page.splice(0, longRow === -1 ? page.length : longRow)
    const [row] = page.splice(0, 1)
    return query<EntryRow>(one, row?.['row_id'])
  }
}

export async function* eachRow(next: NextPage): AsyncGenerator<EntryRow, void, undefined> {
  for (let page = await next(); page.length > 0; page = await next()) yield* page
}
