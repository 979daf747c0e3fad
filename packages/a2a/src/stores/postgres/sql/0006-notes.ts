/**
 * The key-value table. Kinds and keys are bytes, so that they are ordered by bytes whatever the locale of the database. A counter
 * is written often and its expiry seldom changes: some of every page stays free for heap-only updates.
 */
export const sql = `
CREATE TABLE notes (
  kind bytea NOT NULL,
  key bytea NOT NULL,
  version bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint,
  value text NOT NULL,
  PRIMARY KEY (kind, key)
) WITH (fillfactor = 75);
CREATE INDEX notes_expiry ON notes (expires_at) WHERE expires_at IS NOT NULL;
`
