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
import { type MigrationStep, assertReadable } from '../migration-step.ts'
import type { StoreLog } from '../store-log.ts'
import type { PostgresDatabase } from './database.ts'
import { delay } from './database-errors.ts'
import { sql as tasks } from './sql/0001-tasks.ts'
import { sql as append } from './sql/0002-append.ts'
import { sql as lookUps } from './sql/0003-look-ups.ts'
import { sql as pushes } from './sql/0004-pushes.ts'
import { sql as prune } from './sql/0005-prune.ts'
import { sql as notes } from './sql/0006-notes.ts'
import { sql as search } from './sql/0007-search.ts'
import { sql as answers } from './sql/0008-answers.ts'
import { sql as orderedAppend } from './sql/0009-ordered-append.ts'
import { sql as boundedReads } from './sql/0010-bounded-reads.ts'
import { sql as databaseTime } from './sql/0011-database-time.ts'
import { sql as lighterAppend } from './sql/0012-lighter-append.ts'
import { sql as checksums } from './sql/0013-checksums.ts'

/** Never changed once released: the next step corrects an error. */
export const migrationSteps: readonly MigrationStep[] = [
  tasks,
  append,
  lookUps,
  pushes,
  prune,
  notes,
  search,
  answers,
  orderedAppend,
  boundedReads,
  databaseTime,
  lighterAppend,
  checksums,
].map((sql) => ({ sql, minReader: 5 }))

/** Without migrating it, a schema of this step can be read: it has all columns that a dump contains. */
const oldestReadable = 13

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
  const [newest] = await database.queryWithRetry<Version>(newestVersion(name))
  const version = newest?.version ?? 0
  if (version < known.length) {
    throw new Error(
      `The schema ${name} is at migration ${version}; this program requires ${known.length}: ` +
        'first open a store that is allowed to migrate.',
    )
  }
  assertReadable(`The schema ${name}`, version, newest?.oldest ?? 0, known.length)
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
  const [newest] = await query<Version>(newestVersion(name))
  const version = newest?.version ?? 0
  if (version < oldestReadable) {
    throw new Error(
      `The schema ${name} was written by an older version: it is at migration ${version}. Start the hub of this version once, ` +
        'which migrates the schema.',
    )
  }
  assertReadable(`The schema ${name}`, version, newest?.oldest ?? 0, migrationSteps.length)
  return version
}

function newestVersion(name: string): string {
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
    ({ sql, minReader }, index) => `
  IF NOT EXISTS (SELECT FROM schema_version WHERE version >= ${index + 1}) THEN
    EXECUTE $step$${sql}$step$;
    INSERT INTO schema_version (version, oldest) VALUES (${index + 1}, ${minReader});
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
  ${apply.join('')}
  -- A database that was restored elsewhere counts its transactions from the start: positions must continue from the last one.
  UPDATE feed_base SET base = newest.position / 1024 + 1 - pg_current_xact_id()::text::bigint
  FROM (SELECT max(position) AS position FROM log) AS newest
  WHERE newest.position >= (pg_current_xact_id()::text::bigint + base) * 1024;
END
$migrate$`
}
