/** One transaction on a connection of its own, for as long as a store is read or loaded. */
import type { PostgresClient } from '../driver.ts'

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

/** Pages of a query, by a cursor of the server. */
export async function openPages<Row>(
  { query }: PostgresTransaction,
  name: string,
  select: string,
  ...values: readonly unknown[]
): Promise<() => Promise<readonly Row[]>> {
  await query(`DECLARE ${name} NO SCROLL CURSOR FOR ${select}`, ...values)
  return () => query<Row>(`FETCH ${rowsPerPage} FROM ${name}`)
}

const rowsPerPage = 500

/** Longer texts are read one by one and not with their page, so that a page has at most 32 MB. */
export const maxPageText = 65_536

/** A column of a page; NULL if it is too long for it. */
export function pageText(column: string): string {
  return `CASE WHEN octet_length(${column}) <= ${maxPageText} THEN ${column} END`
}
