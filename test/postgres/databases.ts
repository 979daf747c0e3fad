/** A database for each test file, cloned from a template that was migrated once, and stores on it. It is removed with the cluster. */
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'
import type { FullStore } from '@parley/a2a/stores'
import { postgresStore, type PostgresStoreOptions } from '@parley/a2a/stores/postgres'
import type { Cluster, ClusterResult } from './cluster.ts'
import { administer, clientOptions, findCluster } from './cluster.ts'

const template = 'parley_template'
export const masterKey = randomBytes(32)

export interface TestDatabase {
  readonly cluster: Cluster
  readonly name: string
  readonly pool: pg.Pool
  /** A connection outside any store. */
  client(): pg.Client
  /** A store on the pool of this database, closed after the tests of the file. */
  open(options?: Partial<PostgresStoreOptions>): FullStore
  query<Row>(sql: string, ...values: readonly unknown[]): Promise<readonly Row[]>
}

/** Why the tests of a file cannot run, for `{ skip }`; `false` if they can. */
export async function skipReason(): Promise<string | false> {
  const found = await findCluster()
  return 'missing' in found ? found.missing : false
}

export async function cloneDatabase(cluster: Cluster): Promise<string> {
  await prepareTemplate(cluster)
  const name = `test_${randomBytes(6).toString('hex')}`
  await administer(cluster, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  return name
}

/** Call it at the top of a test file, unless `skipReason` gives a reason. Uses the cluster of the run, or another. */
export async function openDatabase(given?: ClusterResult): Promise<TestDatabase> {
  const found = given ?? (await findCluster())
  if ('missing' in found) throw new Error(found.missing)
  const { cluster } = found
  const name = await cloneDatabase(cluster)
  const options = clientOptions(cluster, name)
  const pool = new pg.Pool({ ...options, max: 8 })
  pool.setMaxListeners(0)
  const stores: FullStore[] = []
  after(async () => {
    await Promise.all(stores.map((store) => store.close().catch(() => {})))
    await pool.end()
  })
  return {
    cluster,
    name,
    pool,
    client: () => new pg.Client(options),
    open(given = {}) {
      const store = postgresStore({ pool, masterKey, ...given })
      stores.push(store)
      return store
    },
    async query<Row>(sql: string, ...values: readonly unknown[]) {
      return (await pool.query(sql, [...values])).rows as Row[]
    },
  }
}

/** One process creates it, the others wait. */
async function prepareTemplate(cluster: Cluster): Promise<void> {
  const client = new pg.Client(clientOptions(cluster, 'postgres'))
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock(1)')
    const known = await client.query('SELECT FROM pg_database WHERE datname = $1', [template])
    if (known.rowCount !== 0) return
    await client.query(`CREATE DATABASE ${template}_new`)
    const pool = new pg.Pool({ ...clientOptions(cluster, `${template}_new`), max: 1 })
    const store = postgresStore({ pool, masterKey, endPool: true })
    await store.keys.list()
    await store.close()
    await client.query(`ALTER DATABASE ${template}_new RENAME TO ${template}`)
  } finally {
    await client.end()
  }
}
