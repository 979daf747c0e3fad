/**
 * With synchronous replication, a commit is invisible until the standby has it. A crash of the primary is the exception: after its
 * restart, commits that the standby never received are visible. A replica that reads them would acknowledge what a failover loses.
 *
 * So the first statement on every connection is a commit of its own, which waits for the standby. The write-ahead log is ordered:
 * the standby then has everything before it, too. A crash ends every connection, so what a connection reads later is replicated.
 */
import type { PooledClient, PostgresPool, PostgresQuery } from './driver.ts'

/**
 * A transactional message is the smallest commit that waits: it writes to the log alone, at every `wal_level`, and every role may
 * send one. A transaction that has an id and writes no record would not wait. A standby cannot write, and waits for none.
 */
const barrier = `DO $barrier$
BEGIN
  IF current_setting('synchronous_standby_names') <> '' AND NOT pg_is_in_recovery() THEN
    PERFORM pg_logical_emit_message(true, 'parley', '');
  END IF;
END
$barrier$`

/** Of all pools: several stores may use one. */
const replicatedClients = new WeakSet<PooledClient>()

/**
 * Runs statements on connections that have passed the barrier. If it fails, the connection is closed and the statement is not sent.
 *
 * Not in a `connect` listener of the pool, which could only queue it before the caller's statement: `pg` 8 warns of queued
 * statements, and its next version refuses them.
 */
export function createReplicatedPool(pool: PostgresPool, barrierTimeoutMs: number): Pick<PostgresPool, 'query'> {
  async function query(statement: PostgresQuery): Promise<{ readonly rows: unknown[] }> {
    // An object of the caller that only runs statements: its connections are unknown here.
    if (pool.connect === undefined) return pool.query(statement)
    const client = await pool.connect()
    // The statement fails with the same error; without a listener it would end the process.
    client.on('error', ignoreError)
    try {
      if (!replicatedClients.has(client)) {
        await client.query({ text: barrier, query_timeout: barrierTimeoutMs })
        replicatedClients.add(client)
      }
      const result = await client.query(statement)
      client.removeListener('error', ignoreError)
      client.release()
      return result
    } catch (error) {
      client.removeListener('error', ignoreError)
      // Closes it, as `query` of the pool does: after a timeout, the statement may still run there.
      client.release(true)
      throw error
    }
  }

  return { query }
}

function ignoreError(): void {}
