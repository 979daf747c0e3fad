/**
 * A checksum of what the log and the snapshots hold, computed by the writer: a changed letter is found by `parley verify`. It is NULL
 * in rows of older versions until the backfill has passed them (checksum-backfill.ts). The append is that of 0012 under the same
 * number: it stores the checksum of each row, which a replica of the previous version does not pass.
 *
 * Such a replica leaves two kinds of rows behind. Its appends have no checksum: the row of its writer says so (`unchecked`), and the
 * next start of a newer version continues the backfill. A snapshot that it replaces keeps a checksum of the replaced text: the
 * trigger removes it.
 *
 * The append also keeps the order of the feed. Its positions are transaction ids, and a transaction gets its id before it waits for the
 * rows of its tasks: one with a greater id may append to a task meanwhile. Then the append is undone, and tried again with a new id.
 */
import { sql as lighterAppend } from './0012-lighter-append.ts'

/** Each occurs once in the append of 0012. */
const changes = [
  ['count integer, records text,', 'count integer, records text, checksum bigint,'],
  ['  answers text;', '  answers text;\n  is_unchecked boolean;\n  may_be_late boolean;'],
  [
    '    PERFORM FROM tasks WHERE id = ANY (extended) ORDER BY id FOR NO KEY UPDATE;',
    `    SELECT bool_or(age(locked.xmin) < 0) INTO may_be_late FROM (
      SELECT xmin FROM tasks WHERE id = ANY (extended) ORDER BY id FOR NO KEY UPDATE) AS locked;`,
  ],
  [
    'INTO first_position FROM feed_base WHERE only_row;',
    `INTO first_position FROM feed_base WHERE only_row;
  IF may_be_late AND EXISTS (
    SELECT FROM tasks AS t WHERE t.id = ANY (extended)
      AND (SELECT l.position FROM log AS l WHERE l.task = t.ref ORDER BY l.last_seq DESC LIMIT 1) > first_position
  ) THEN RAISE EXCEPTION 'the feed has a later append of the task' USING ERRCODE = 'serialization_failure'; END IF;`,
  ],
  [
    'INSERT INTO log (position, task, first_seq, last_seq, records, not_before)',
    'INSERT INTO log (position, task, first_seq, last_seq, records, not_before, checksum)',
  ],
  [
    'records, CASE WHEN first_at >= was_at THEN NULL ELSE was_at END\n    FROM judged',
    'records, CASE WHEN first_at >= was_at THEN NULL ELSE was_at END, checksum\n    FROM judged',
  ],
  [
    'END ORDER BY n)\n  INTO lost, answers FROM judged;',
    'END ORDER BY n),\n    coalesce(bool_or(outcome = 0 AND count > 0 AND checksum IS NULL), false)\n' +
      '  INTO lost, answers, is_unchecked FROM judged;',
  ],
  [
    'answer = answers, seen_at = now() WHERE',
    'answer = answers, seen_at = now(), unchecked = unchecked OR is_unchecked WHERE',
  ],
] as const

const append = changes.reduce(
  (text, [before, after]) => text.replace(before, after),
  lighterAppend.slice(lighterAppend.indexOf('CREATE OR REPLACE FUNCTION append_2')),
)

export const sql = `
ALTER TABLE log ADD COLUMN checksum bigint;
ALTER TABLE snapshots ADD COLUMN checksum bigint;
ALTER TABLE writers ADD COLUMN unchecked boolean NOT NULL DEFAULT false;

CREATE TABLE backfills (
  name text PRIMARY KEY,
  cursor bigint NOT NULL,
  until bigint NOT NULL,
  until_at timestamptz NOT NULL DEFAULT now(),
  filled bigint NOT NULL DEFAULT 0,
  holder uuid,
  held_until timestamptz,
  finished_at timestamptz
);
INSERT INTO backfills (name, cursor, until, finished_at)
SELECT 'log', 0, coalesce(max(position), 0), CASE WHEN max(position) IS NULL THEN now() END FROM log
UNION ALL SELECT 'snapshots', 0, coalesce(max(task), 0), CASE WHEN max(task) IS NULL THEN now() END FROM snapshots;

CREATE FUNCTION keep_checksum_1() RETURNS trigger LANGUAGE plpgsql
AS $keep$
BEGIN
  NEW.checksum := NULL;
  RETURN NEW;
END
$keep$;
CREATE TRIGGER snapshots_checksum BEFORE UPDATE ON snapshots FOR EACH ROW
  WHEN (NEW.checksum = OLD.checksum AND (NEW.folded <> OLD.folded OR NEW.internal <> OLD.internal))
  EXECUTE FUNCTION keep_checksum_1();

${append}`
