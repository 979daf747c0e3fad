/**
 * A checksum of what the log and the snapshots hold, computed by the writer: SQLite notices a damaged page, not a changed letter. It
 * is NULL in rows of older versions until the backfill has passed them (checksum-backfill.ts); `backfills` has its cursors. Every
 * program that opens this schema writes checksums, so the rows up to `until` are all.
 *
 * `min_reader` is the number of steps that a program must know to use the file. Programs that know fewer than seven refuse every
 * newer schema.
 */
export const sql = `
ALTER TABLE schema_version ADD COLUMN min_reader INTEGER NOT NULL DEFAULT 0;
ALTER TABLE log ADD COLUMN checksum INTEGER;
ALTER TABLE snapshots ADD COLUMN checksum INTEGER;
CREATE TABLE backfills (
  name TEXT NOT NULL PRIMARY KEY,
  cursor INTEGER NOT NULL,
  until INTEGER NOT NULL,
  filled INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO backfills VALUES
  ('log', 0, (SELECT coalesce(max(position), 0) FROM log), 0),
  ('snapshots', 0, (SELECT coalesce(max(task), 0) FROM snapshots), 0);
`
