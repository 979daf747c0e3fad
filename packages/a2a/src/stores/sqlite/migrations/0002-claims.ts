/**
 * Claims of messages, written where the last one was. Under an index of their digests, which are as good as random, each
 * claim changed a page of its own: 22 of the 49 pages that sixteen new tasks wrote. Now the newest claims stand in the
 * order they came, in `messages`, and some thousands at a time are moved, in the order of their keys, to the end of
 * `sealed_messages`. A generation of those has a filter that knows of nearly every key which is not in it (see messages.ts).
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
