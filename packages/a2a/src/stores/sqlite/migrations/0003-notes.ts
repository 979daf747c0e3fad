/**
 * The key-value table. Kinds and keys are bytes: SQLite texts cannot hold lone surrogates. Expiring entries are indexed by their
 * time.
 */
export const sql = `
CREATE TABLE notes (
  kind BLOB NOT NULL,
  key BLOB NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_expiry ON notes (expires_at) WHERE expires_at IS NOT NULL;
`
