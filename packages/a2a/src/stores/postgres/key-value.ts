/**
 * Key-value data for any number of replicas: each call is one statement, and the row that it locks decides between two concurrent
 * ones. Statements that may run twice are retried when a connection breaks. An addition, a removal and a conditional write are not:
 * the caller has to find out.
 */
import type { Json } from '../../model/task.ts'
import { keyToBytes, keyFromBytes, lastWritePerKey, keyRangeOf } from '../key-value-keys.ts'
import type { KeyValueEntry, KeyValueStore } from '../key-value-store.ts'
import type { PostgresContext } from './context.ts'
import { toPostgresInteger } from './text-encoding.ts'

interface EntryColumns {
  readonly key: Uint8Array
  readonly version: unknown
  readonly updated_at: unknown
  readonly value: string
}

export function createPostgresKeyValue(
  { database, schema, time: { now, offsetFromNow } }: PostgresContext,
  track: <Result>(work: () => Promise<Result>) => Promise<Result>,
) {
  const table = `${schema}.notes`
  /** One time for the whole statement. */
  const moment = `coalesce($1::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)`
  const expiry = `${moment} + $4::bigint`
  const isLive = `(n.expires_at IS NULL OR n.expires_at > ${moment})`
  const columns = 'n.key, n.version, n.updated_at, n.value'
  const one = `SELECT ${columns} FROM ${table} AS n WHERE n.kind = $2 AND n.key = $3 AND ${isLive}`
  const inRange = `SELECT ${columns} FROM ${table} AS n WHERE n.kind = $2 AND n.key >= $3 AND n.key < $4 AND ${isLive}`
  const upward = `${inRange} ORDER BY n.key LIMIT $5`
  const downward = `${inRange} ORDER BY n.key DESC LIMIT $5`
  const next = `CASE WHEN ${isLive} THEN n.version + 1 ELSE 1 END`
  const insert = `INSERT INTO ${table} AS n (kind, key, version, updated_at, expires_at, value)`
  const orReplace = `ON CONFLICT (kind, key) DO UPDATE SET version = ${next}, updated_at = excluded.updated_at,
    expires_at = excluded.expires_at`
  const put = `${insert} VALUES ($2, $3, 1, ${moment}, ${expiry}, $5) ${orReplace}, value = excluded.value`
  const putAll = `${insert} SELECT $2, given.key, 1, ${moment}, ${moment} + given.expires_in, given.value
    FROM unnest($3::bytea[], $4::bigint[], $5::text[]) WITH ORDINALITY AS given (key, expires_in, value, n) ORDER BY given.n
    ${orReplace}, value = excluded.value`
  const replace = `UPDATE ${table} AS n SET version = n.version + 1, updated_at = ${moment}, expires_at = ${expiry}, value = $5
    WHERE n.kind = $2 AND n.key = $3 AND n.version = $6 AND ${isLive} RETURNING n.version`
  const remove = `DELETE FROM ${table} AS n WHERE n.kind = $2 AND n.key = $3 RETURNING ${isLive} AS live`
  // Adds as JavaScript does, and writes the shortest text, which is valid JSON.
  const add = `${insert} VALUES ($2, $3, 1, ${moment}, ${expiry}, $5::float8::text) ${orReplace}, value =
    CASE WHEN ${isLive} AND n.value ~ '^-?[0-9]' THEN (n.value::float8 + $5::float8)::text ELSE excluded.value END
    RETURNING n.value`
  const sweep = `DELETE FROM ${table} WHERE (kind, key) IN (
    SELECT n.kind, n.key FROM ${table} AS n WHERE n.expires_at IS NOT NULL AND n.expires_at <= ${moment}
    ORDER BY n.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

  const kv: KeyValueStore = {
    read: async (kind, key) => {
      const place = [bytea(kind), bytea(key)]
      return track(async () => {
        const [row] = await database.queryWithRetry<EntryColumns>(one, now(), ...place)
        return row && entryOf(row)
      })
    },
    write: async (kind, { key, value, expiresAt }, version) => {
      const values = [bytea(kind), bytea(key), expiryOf(expiresAt), JSON.stringify(value)]
      return track(async () => versionOf(await written(values, version)))
    },
    writeAll: async (kind, given) => {
      const rows = lastWritePerKey(given)
      const keys = rows.map(({ bytes }) => Buffer.from(bytes))
      const expiries = rows.map(({ entry }) => expiryOf(entry.expiresAt))
      const texts = rows.map(({ entry }) => JSON.stringify(entry.value))
      const values = [bytea(kind), keys, expiries, texts]
      return track(async () => void (await database.queryWithRetry(putAll, now(), ...values)))
    },
    remove: async (kind, key) => {
      const place = [bytea(kind), bytea(key)]
      return track(async () => {
        const [row] = await database.query<{ live: boolean }>(remove, now(), ...place)
        return row?.live === true
      })
    },
    list: async (kind, query) => {
      const { from, until } = keyRangeOf(query)
      const values = [bytea(kind), Buffer.from(from), Buffer.from(until), toPostgresInteger(query.limit)]
      const statement = query.descending === true ? downward : upward
      return track(async () => (await database.queryWithRetry<EntryColumns>(statement, now(), ...values)).map(entryOf))
    },
    add: async (kind, key, by, expiresAt) => {
      const values = [bytea(kind), bytea(key), expiryOf(expiresAt), by]
      return track(async () => {
        const [row] = await database.query<{ value: string }>(add, now(), ...values)
        return Number(row?.value)
      })
    },
  }

  function expiryOf(expiresAt: number | undefined): number | null {
    return expiresAt === undefined ? null : offsetFromNow(Math.ceil(expiresAt))
  }

  function written(values: readonly unknown[], version: number | undefined) {
    if (version === undefined)
      return database.queryWithRetry<VersionColumns>(`${put} RETURNING n.version`, now(), ...values)
    if (version === 0)
      return database.query<VersionColumns>(`${put} WHERE NOT ${isLive} RETURNING n.version`, now(), ...values)
    return database.query<VersionColumns>(replace, now(), ...values, version)
  }

  return {
    kv,
    async sweep(limit: number): Promise<void> {
      await database.query(sweep, now(), limit)
    },
  }
}

interface VersionColumns {
  readonly version: unknown
}

function versionOf([row]: readonly VersionColumns[]): number | undefined {
  return row && Number(row.version)
}

const bytea = (name: string): Buffer => Buffer.from(keyToBytes(name))

function entryOf({ key, version, updated_at, value }: EntryColumns): KeyValueEntry {
  return {
    key: keyFromBytes(key),
    value: JSON.parse(value) as Json,
    version: Number(version),
    updatedAt: Number(updated_at),
  }
}
