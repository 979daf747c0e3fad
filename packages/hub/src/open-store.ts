/** From the `store` setting to a store: `sqlite:`, `memory:` or `postgres://…`, and nothing else to change. */
import { join } from 'node:path'
import pg from 'pg'
import { memoryStore } from '@parley/a2a'
import type { AgentLog, Store } from '@parley/a2a'
import { ConfigError } from '@parley/a2a/server'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { prepareDataDirectory } from './data-directory.ts'

export interface StoreSettings {
  /** `sqlite:` (in `dataDir`), `sqlite:<file>`, `memory:` or `postgres://user:password@host/database`. */
  readonly store: string
  readonly dataDir: string
  /** 32 bytes as base64, the same for all replicas. Only Postgres needs it: SQLite keeps one in a file beside the data. */
  readonly masterKey?: string | undefined
  /**
   * Where `store` leads to a pooler such as PgBouncer: the server itself, for the one connection that listens. `none` if it
   * cannot be reached: then the database is looked at ten times a second.
   */
  readonly directStore?: string | undefined
  /** Opens a SQLite file even if acknowledged writes are missing. Default `false`. */
  readonly acceptLoss?: boolean | undefined
  readonly log?: Pick<AgentLog, 'info' | 'warn'> | undefined
}

/** A server that cannot be reached is given up after this long, and tried again. */
const connectMs = 5_000

export function openStore(settings: StoreSettings): Store {
  const { store, masterKey, directStore, log = console } = settings
  if (store === 'memory:') return memoryStore()
  if (store.startsWith('sqlite:')) return openSqlite(store.slice('sqlite:'.length), settings)
  if (!isPostgres(store)) {
    throw new ConfigError('store', 'give sqlite:, sqlite:<file>, memory: or postgres://user:password@host/database')
  }
  if (directStore !== undefined && directStore !== 'none' && !isPostgres(directStore)) {
    throw new ConfigError('store.direct', 'give the postgres:// url of the server itself, or none')
  }
  const direct = directStore ?? store
  return postgresStore({
    pool: new pg.Pool({ connectionString: store, max: 10, ...connection }),
    endPool: true,
    masterKey: readMasterKey(masterKey),
    // Whoever names the server apart has a pooler before it, which may not keep prepared statements.
    unnamedStatements: directStore !== undefined,
    ...(direct === 'none' ? {} : { listen: () => new pg.Client({ connectionString: direct, ...connection }) }),
    log,
  })
}

function openSqlite(named: string, { dataDir, acceptLoss = false, log = console }: StoreSettings): Store {
  if (named === '') prepareDataDirectory(dataDir, log)
  const file = named || join(dataDir, 'parley.db')
  try {
    return sqliteStore({ file, acceptLoss, log })
  } catch (reason) {
    // The message is written for the operator.
    const refusal = new ConfigError('store', reason instanceof Error ? reason.message : String(reason))
    refusal.cause = reason
    throw refusal
  }
}

const connection = { connectionTimeoutMillis: connectMs, keepAlive: true, application_name: 'parley' }

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)
}

function readMasterKey(text: string | undefined): Uint8Array {
  const how = 'give 32 bytes as base64, the same for all replicas, such as `openssl rand -base64 32` makes them'
  if (text === undefined || text === '') throw new ConfigError('masterKey', `a store on Postgres needs one: ${how}`)
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32) throw new ConfigError('masterKey', `this has ${key.length} bytes: ${how}`)
  return key
}

/** For people: where tasks are, without the password. */
export function describeStore({ store, dataDir }: Pick<StoreSettings, 'store' | 'dataDir'>): string {
  if (store === 'memory:') return 'memory, until this process ends'
  if (!isPostgres(store)) return store.slice('sqlite:'.length) || dataDir
  const { host, pathname } = new URL(store)
  return `PostgreSQL at ${host}${pathname}`
}
