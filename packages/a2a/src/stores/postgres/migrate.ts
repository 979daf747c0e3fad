/**
 * Migrates a schema to the newest step, one numbered step after the other, in one statement under a lock: of many replicas that
 * start together, one migrates and the others find it done.
 *
 * A replica of the previous version keeps working meanwhile, and may restart during a rolling update. So a step only adds: columns
 * with defaults, tables, functions under a new number. A function that such a replica calls may get a new body, if its parameters
 * and results stay the same. A step that must break this sets in `minReader` from which step on a program must know the schema; the
 * database has it in the column `oldest`.
 *
 * A step waits for each table at most `lockTimeout`, because every append of every replica queues behind it. A backup or another
 * long transaction may hold a table for longer: then all is undone, and tried again after a pause.
 */
import { type MigrationStep, assertUsable, baseline, newestVersion } from '../migration-step.ts'
import type { StoreLog } from '../store-log.ts'
import type { PostgresDatabase } from './database.ts'
import { delay } from './database-errors.ts'
import { append } from './sql/0100-append.ts'
import { prune } from './sql/0100-prune.ts'
import { pushes } from './sql/0100-pushes.ts'
import { reads } from './sql/0100-reads.ts'
import { tables } from './sql/0100-tables.ts'

/**
 * Never changed once released: the next step corrects an error. If a step adds what a dump contains, `readableSchemaVersion` refuses
 * the schemas before it.
 */
export const migrationSteps: readonly MigrationStep[] = [
  { version: baseline, sql: [tables, append, reads, pushes, prune].join(''), minReader: baseline },
]

interface Version {
  readonly version: number | null
  readonly oldest: number | null
}

const lockTimeout = '2s'
const lockRetryMs = 5_000
/** About ten minutes: longer transactions are a reason to stop and look. */
const maxLockRetries = 120
const lockNotAvailable = '55P03'

export async function migratePostgres(
  database: PostgresDatabase,
  schema: string,
  mayChange: boolean,
  known = migrationSteps,
  log?: StoreLog,
): Promise<void> {
  const name = quoteIdentifier(schema)
  if (mayChange) await applySteps(database, schema, known, log)
  const [found] = await database.queryWithRetry<Version>(versionSql(name))
  const version = found?.version ?? 0
  if (version > 0) assertUsable(`The schema ${name}`, version, found?.oldest ?? 0, known)
  if (version >= newestVersion(known)) return
  throw new Error(
    `The schema ${name} is at migration ${version}; this program requires ${newestVersion(known)}: ` +
      'first open a store that is allowed to migrate.',
  )
}

async function applySteps(
  database: PostgresDatabase,
  schema: string,
  known: readonly MigrationStep[],
  log: StoreLog | undefined,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await database.queryWithRetry(migrationSql(schema, known))
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== lockNotAvailable || tries > maxLockRetries) throw error
      const what = 'the migration waits for a long transaction on its tables, such as a backup, and is tried again'
      log?.warn(what, { schema, tries })
      await delay(lockRetryMs)
    }
  }
}

/**
 * The version of a schema that is only read, and therefore not migrated. Rejects if there is no store, or one that this version cannot
 * read.
 */
export async function readableSchemaVersion(
  { query }: Pick<PostgresDatabase, 'query'>,
  schema: string,
): Promise<number> {
  const name = quoteIdentifier(schema)
  const [found] = await query<{ found: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS found',
    `${name}.schema_version`,
  )
  if (found?.found !== true) throw new Error(`The database has no store of Parley in the schema ${name}.`)
  const [newest] = await query<Version>(versionSql(name))
  const version = newest?.version ?? 0
  assertUsable(`The schema ${name}`, version, newest?.oldest ?? 0, migrationSteps)
  return version
}

function versionSql(name: string): string {
  return `SELECT max(version) AS version, max(oldest) AS oldest FROM ${name}.schema_version`
}

/** Quotes an identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a text literal. */
function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** All steps in one statement. */
export function migrationSql(schema: string, known: readonly MigrationStep[]): string {
  const name = quoteIdentifier(schema)
  const apply = known.map(
    ({ version, sql, minReader }) => `
  IF NOT EXISTS (SELECT FROM schema_version WHERE version >= ${version}) THEN
    EXECUTE $step$${sql}$step$;
    INSERT INTO schema_version (version, oldest) VALUES (${version}, ${minReader});
  END IF;`,
  )
  return `DO $migrate$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(${quoteLiteral(`parley/migrate/${schema}`)}, 0));
  IF to_regnamespace(${quoteLiteral(name)}) IS NULL THEN CREATE SCHEMA ${name}; END IF;
  PERFORM set_config('search_path', ${quoteLiteral(name)}, true);
  -- Only now: the lock above is held by another replica that migrates.
  PERFORM set_config('lock_timeout', '${lockTimeout}', true);
  IF to_regclass(${quoteLiteral(`${name}.schema_version`)}) IS NULL THEN
    CREATE TABLE schema_version (
      version integer PRIMARY KEY, oldest integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
  END IF;
  -- The caller refuses it.
  IF (SELECT max(version) FROM schema_version) < ${baseline} THEN RETURN; END IF;
  ${apply.join('')}
  -- A database that was restored elsewhere counts its transactions from the start: positions must continue from the last one.
  UPDATE feed_base SET base = newest.position / 1024 + 1 - pg_current_xact_id()::text::bigint
  FROM (SELECT max(position) AS position FROM log) AS newest
  WHERE newest.position >= (pg_current_xact_id()::text::bigint + base) * 1024;
END
$migrate$`
}
