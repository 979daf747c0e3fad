/**
 * Message claims, written next to each other. With an index of their digests, which are as good as random, each claim changed a
 * page of its own: 22 of the 49 pages that sixteen new tasks wrote. Now the newest claims are in `messages` in order of arrival,
 * and some thousands at a time are moved, in key order, to the end of `sealed_messages`. Each generation of those has a filter that
 * excludes nearly every key that is not in it (see message-claims.ts).
 */
export const sql = `
ALTER TABLE messages RENAME TO messages_before;
CREATE TABLE messages (
  position INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  task_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
INSERT INTO messages (key, task_id, hash, expires_at)
  SELECT key, task_id, hash, expires_at FROM messages_before ORDER BY rowid;
DROP TABLE messages_before;

CREATE TABLE sealed_messages (
  generation INTEGER NOT NULL,
  key BLOB NOT NULL,
  task_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (generation, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE message_generations (
  generation INTEGER PRIMARY KEY,
  sweep_at INTEGER NOT NULL,
  filter BLOB NOT NULL
) STRICT;
`
