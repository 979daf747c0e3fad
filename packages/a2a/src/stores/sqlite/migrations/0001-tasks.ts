/**
 * The first schema: everything that the store contract needs.
 *
 * `tasks.ref` is a small number that identifies a task in all other tables: it keeps their indexes small. Columns that change often
 * come first in a row and texts last, so that reading the state of a task does not read its texts. The log has a row per append,
 * not per record, in a table with a rowid and a unique index: that was 2.7 to 3.8 times as fast as a table without rowid under the
 * key (task, first_seq). Its rowid is the position in the feed. `fence` contains the epoch of the store that issued it (see
 * epoch.ts), so a lease of an earlier epoch is known to be invalid. The index of the lists begins with the partition and the state:
 * a list without a state merges one range per state.
 */
export const sql = `
CREATE TABLE tasks (
  ref INTEGER PRIMARY KEY,
  head INTEGER NOT NULL,
  consumed_seq INTEGER NOT NULL,
  visible_seq INTEGER NOT NULL,
  state INTEGER NOT NULL,
  finished INTEGER NOT NULL,
  holder TEXT,
  lease_until INTEGER,
  fence INTEGER NOT NULL,
  due_kind TEXT,
  due_at INTEGER,
  pushes INTEGER NOT NULL,
  log_dropped INTEGER NOT NULL,
  status_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  agent TEXT NOT NULL,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  context_id TEXT NOT NULL,
  status TEXT NOT NULL,
  metadata TEXT
) STRICT;
CREATE UNIQUE INDEX tasks_id ON tasks (id);
CREATE INDEX tasks_list ON tasks (tenant, agent, owner, state, status_at, id);
CREATE INDEX tasks_context ON tasks (context_id);
CREATE INDEX tasks_leased ON tasks (created_at, id) WHERE holder IS NOT NULL AND finished = 0;
CREATE INDEX tasks_due ON tasks (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_finished ON tasks (log_dropped, status_at, id) WHERE finished = 1;

CREATE TABLE log (
  position INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  records TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_task ON log (task, first_seq);

CREATE TABLE messages (
  key BLOB NOT NULL,
  task_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX messages_key ON messages (key);
-- Claims expire in nearly the order they are made, so this index only grows at its end.
CREATE INDEX messages_expiry ON messages (expires_at);

CREATE TABLE counters (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  state INTEGER NOT NULL,
  tasks INTEGER NOT NULL,
  PRIMARY KEY (tenant, owner, agent, state)
) STRICT, WITHOUT ROWID;

CREATE TABLE snapshots (
  task INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  folded TEXT NOT NULL,
  internal TEXT NOT NULL
) STRICT;

CREATE TABLE blobs (
  ref INTEGER PRIMARY KEY,
  digest TEXT NOT NULL,
  content ANY NOT NULL
) STRICT;
CREATE UNIQUE INDEX blobs_digest ON blobs (digest);
CREATE TABLE blob_uses (
  task INTEGER NOT NULL,
  blob INTEGER NOT NULL,
  PRIMARY KEY (task, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_blob ON blob_uses (blob);

CREATE TABLE pushes (
  ref INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  id TEXT NOT NULL,
  delivered_seq INTEGER NOT NULL,
  due_at INTEGER,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  leased_until INTEGER,
  config TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX pushes_task ON pushes (task, id);
CREATE INDEX pushes_due ON pushes (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE push_attempts (
  ref INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  push_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  duration_ms REAL NOT NULL
) STRICT;
CREATE INDEX push_attempts_push ON push_attempts (task, push_id, ref);

CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  purpose TEXT NOT NULL,
  material TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE engine (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  epoch INTEGER NOT NULL,
  last_position INTEGER NOT NULL
) STRICT;
INSERT INTO engine VALUES (1, 0, 0);
`
