/** Opens a store from the `store` setting: `sqlite:`, `memory:` or `postgres://…`. */
import { join } from 'node:path'
import { memoryStore, type AgentLog } from '@parley/a2a'
import type { FullStore, Store } from '@parley/a2a/stores'
import { ConfigError } from '@parley/a2a/server'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { operatorMessage } from '../json/operator-message.ts'
import { makeDataDirectoryPrivate } from './data-directory.ts'

export interface StoreSettings {
  /** `sqlite:` (in `dataDir`), `sqlite:<file>`, `memory:` or `postgres://user:password@host/database`. */
  readonly store: string
  readonly dataDir: string
  /** 32 bytes as base64, the same for all replicas. Required only for Postgres: SQLite keeps a key in a file beside the data. */
  readonly masterKey?: string | undefined
  /** Master keys that may still wrap keys in Postgres, while the master key is rotated. */
  readonly previousMasterKeys?: readonly string[] | undefined
  /**
   * If `store` leads to a pooler such as PgBouncer: the address of the server itself, for the one connection that listens. `none`
   * if it cannot be reached; the store then polls the database ten times a second.
   */
  readonly directStore?: string | undefined
  /** Opens a SQLite file even if acknowledged writes are missing. Default `false`. */
  readonly acceptLoss?: boolean | undefined
  readonly log?: Pick<AgentLog, 'info' | 'warn'> | undefined
}

/** The section `store`, and the data directory, of a configuration. */
export interface StoreSection {
  readonly store: {
    readonly url: string
    readonly direct?: string | undefined
    readonly masterKey?: string | undefined
    readonly previousMasterKeys?: readonly string[] | undefined
  }
  readonly dataDir: string
}

export function storeSettingsOf({ store, dataDir }: StoreSection): StoreSettings {
  const { url, direct: directStore, masterKey, previousMasterKeys } = store
  return { store: url, dataDir, directStore, masterKey, previousMasterKeys }
}

/** Connection timeout, after which the store retries. */
const connectTimeoutMs = 5_000

export async function openStore(settings: StoreSettings): Promise<FullStore> {
  const { store, masterKey, directStore, log = console } = settings
  if (store === 'memory:') return memoryStore()
  if (store.startsWith('sqlite:')) return openSqlite(store.slice('sqlite:'.length), settings)
  if (!isPostgres(store)) {
    throw new ConfigError('store', 'must be sqlite:, sqlite:<file>, memory: or postgres://user:password@host/database')
  }
  if (directStore !== undefined && directStore !== 'none' && !isPostgres(directStore)) {
    throw new ConfigError('store.direct', 'must be the postgres:// URL of the server itself, or none')
  }
  const key = readMasterKey(masterKey)
  const previous = (settings.previousMasterKeys ?? []).map((text) => readMasterKey(text, 'previousMasterKeys'))
  const direct = directStore ?? store
  // The driver and the store are loaded only by hubs that use them: together they are 70 files.
  const [{ default: pg }, { postgresStore }] = await Promise.all([import('pg'), import('@parley/a2a/stores/postgres')])
  return postgresStore({
    pool: new pg.Pool({ connectionString: store, max: 10, ...connectionOptions }),
    endPool: true,
    masterKey: key,
    previousMasterKeys: previous,
    // A separate direct address means that a pooler is in front, which may not keep prepared statements.
    unnamedStatements: directStore !== undefined,
    ...(direct === 'none' ? {} : { listen: () => new pg.Client({ connectionString: direct, ...connectionOptions }) }),
    log,
  })
}

function openSqlite(path: string, { dataDir, acceptLoss = false, log = console }: StoreSettings): FullStore {
  const file = sqliteFile({ store: `sqlite:${path}`, dataDir })
  try {
    const opened = sqliteStore({ file, acceptLoss, log })
    if (path === '') makeDataDirectoryPrivate(dataDir, log)
    return opened
  } catch (reason) {
    // The message is written for the operator.
    const message = reason instanceof Error ? reason.message : String(reason)
    const error = new ConfigError(
      'store',
      path === ''
        ? message.replace(/choose another (directory|file)/, 'choose another directory with --data')
        : message,
    )
    error.cause = reason
    throw error
  }
}

export const connectionOptions = {
  connectionTimeoutMillis: connectTimeoutMs,
  keepAlive: true,
  application_name: 'parley',
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)
}

function readMasterKey(text: string | undefined, setting = 'masterKey'): Uint8Array {
  const hint = 'set PARLEY_MASTER_KEY to 32 bytes as base64, the same for all replicas: openssl rand -base64 32'
  if (text === undefined || text === '') throw new ConfigError('masterKey', `is required with PostgreSQL: ${hint}`)
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32) throw new ConfigError(setting, `has ${key.length} bytes: ${hint}`)
  return key
}

/** The path of the SQLite file that these settings name. */
export function sqliteFile({ store, dataDir }: Pick<StoreSettings, 'store' | 'dataDir'>): string {
  return store.slice('sqlite:'.length) || join(dataDir, 'parley.db')
}

/** Describes where tasks are stored, without the password. */
export function describeStore({ store, dataDir }: Pick<StoreSettings, 'store' | 'dataDir'>): string {
  if (store === 'memory:') return 'memory, until this process ends'
  if (!isPostgres(store)) return store.slice('sqlite:'.length) || dataDir
  const { host, pathname } = new URL(store)
  return `PostgreSQL at ${host}${pathname}`
}

/** The error of the first read: a database that does not answer is reported with its address and the setting to check. */
export function firstReadError(reason: unknown, settings: Pick<StoreSettings, 'store' | 'dataDir'>): unknown {
  if (!isPostgres(settings.store) || !(reason instanceof Error) || reason instanceof ConfigError) return reason
  const error = new ConfigError(
    'store',
    `cannot use ${describeStore(settings)}: ${operatorMessage(reason)}. Check that it is running, and the address and credentials.`,
  )
  error.cause = reason
  return error
}

/** Closes the store last: the other parts use it until they are closed. */
export function closeBeforeStore(store: Store, ...others: readonly ({ close(): Promise<void> } | undefined)[]): void {
  const close = store.close.bind(store)
  store.close = async () => {
    for (const other of others) await other?.close()
    await close()
  }
}

export async function closeAllQuietly(
  store: Store,
  ...others: readonly ({ close(): Promise<void> } | undefined)[]
): Promise<void> {
  for (const other of others) await other?.close().catch(() => {})
  await store.close().catch(() => {})
}
