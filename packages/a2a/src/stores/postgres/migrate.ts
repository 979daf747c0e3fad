/**
 * Migrates a schema to the newest step, one numbered step after the other, in one statement under a lock: of many replicas that
 * start together, one migrates and the others find it done.
 *
 * A replica of the previous version keeps working meanwhile, and may restart during a rolling update. So a step only adds: columns
 * with defaults, tables, functions under a new number. A function that such a replica calls may get a new body, if its parameters
 * and results stay the same. A step that must break this sets in `oldest` from which step on a program must know the schema.
 */
import type { PostgresDatabase } from './database.ts'
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

export interface MigrationStep {
  readonly sql: string
  /** A program must know this many steps to work with the schema after this one. */
  readonly oldest: number
}

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
].map((sql) => ({ sql, oldest: 5 }))

interface Version {
  readonly version: number
  readonly oldest: number
}

export async function migratePostgres(
  database: PostgresDatabase,
  schema: string,
  mayChange: boolean,
  known = migrationSteps,
): Promise<void> {
  const name = quoteIdentifier(schema)
  if (mayChange) await database.queryWithRetry(migrationSql(schema, known))
  const [newest] = await database.queryWithRetry<Version>(
    `SELECT version, oldest FROM ${name}.schema_version ORDER BY version DESC LIMIT 1`,
  )
  const { version = 0, oldest = 0 } = newest ?? {}
  if (version < known.length) {
    throw new Error(
      `The schema ${name} is at migration ${version}; this program requires ${known.length}: ` +
        'first open a store that is allowed to migrate.',
    )
  }
  if (oldest > known.length) {
    throw new Error(
      `The schema ${name} was migrated by a newer version: it is at migration ${version}, which requires a program ` +
        `that knows migration ${oldest}; this one knows ${known.length}. Use the newer version.`,
    )
  }
}

/** Quotes an identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a text literal. */
function quoteLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function migrationSql(schema: string, known: readonly MigrationStep[]): string {
  const name = quoteIdentifier(schema)
  const apply = known.map(
    ({ sql, oldest }, index) => `
  IF NOT EXISTS (SELECT FROM schema_version WHERE version >= ${index + 1}) THEN
    EXECUTE $step$${sql}$step$;
    INSERT INTO schema_version (version, oldest) VALUES (${index + 1}, ${oldest});
  END IF;`,
  )
  return `DO $migrate$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(${quoteLiteral(`parley/migrate/${schema}`)}, 0));
  IF to_regnamespace(${quoteLiteral(name)}) IS NULL THEN CREATE SCHEMA ${name}; END IF;
  PERFORM set_config('search_path', ${quoteLiteral(name)}, true);
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
