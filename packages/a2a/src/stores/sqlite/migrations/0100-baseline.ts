/**
 * The first schema: everything that the store contract needs.
 *
 * `tasks.ref` is a small number that identifies a task in all other tables: it keeps their indexes small. Columns that change often
 * come first in a row and texts last, so that reading the state of a task does not read its texts. `last_at` is the time of the last
 * record: no later record is written with an earlier one. `fence` contains the epoch of the store that issued it (see epoch.ts), so a
 * lease of an earlier epoch is known to be invalid.
 *
 * The index of the lists begins with the partition and the state: a list without a state merges one range per state. The operator
 * searches over all owners: `tasks_search` has the agent and the state before the time, so a list of all tasks merges the ranges of
 * the agents and states that occur, which are few. Running tasks (SUBMITTED 1, WORKING 2) are excluded: they are few at any time, and
 * the counters of their owners find them. With them, each task entered the index three times in its life instead of once, and the
 * appends of a short task took 15 % more CPU; without, 4 %.
 *
 * The log has a row per append, not per record, in a table with a rowid and a unique index: that was 2.7 to 3.8 times as fast as a
 * table without rowid under the key (task, first_seq). Its rowid is the position in the feed. `checksum`, also that of a snapshot, is
 * a CRC-32 computed by the writer: SQLite notices a damaged page, not a changed letter.
 *
 * Message claims are written next to each other. With an index of their digests, which are as good as random, each claim changed a
 * page of its own: 22 of the 49 pages that sixteen new tasks wrote. The newest claims are in `messages` in order of arrival, and some
 * thousands at a time are moved, in key order, to the end of `sealed_messages`. Each generation of those has a filter that excludes
 * nearly every key that is not in it (see message-claims.ts).
 *
 * `notes` is the key-value table. Its kinds and keys are bytes: SQLite texts cannot hold lone surrogates.
 */
export const sql = `
CREATE TABLE tasks (
  ref INTEGER PRIMARY KEY,
  head INTEGER NOT NULL,
  consumed_seq INTEGER NOT NULL,
  visible_seq INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
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
CREATE INDEX tasks_search ON tasks (agent, state, status_at, id) WHERE state NOT IN (1, 2);

CREATE TABLE log (
  position INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  records TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX log_task ON log (task, first_seq);

CREATE TABLE messages (
  position INTEGER PRIMARY KEY,
  key BLOB NOT NULL,
  task_id TEXT NOT NULL,
  hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
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

CREATE TABLE counters (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  agent TEXT NOT NULL,
  state INTEGER NOT NULL,
  tasks INTEGER NOT NULL,
  PRIMARY KEY (tenant, owner, agent, state)
) STRICT, WITHOUT ROWID;
CREATE INDEX counters_owner ON counters (owner);

CREATE TABLE snapshots (
  task INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
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
CREATE INDEX pushes_state ON pushes (state, ref);

-- The answer is the start of the response of a receiver that did not accept an event, for the operator who looks for the cause.
CREATE TABLE push_attempts (
  ref INTEGER PRIMARY KEY,
  task INTEGER NOT NULL,
  push_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  duration_ms REAL NOT NULL,
  answer TEXT
) STRICT;
CREATE INDEX push_attempts_push ON push_attempts (task, push_id, ref);

CREATE TABLE keys (
  id TEXT NOT NULL PRIMARY KEY,
  purpose TEXT NOT NULL,
  material TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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

CREATE TABLE engine (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  epoch INTEGER NOT NULL,
  last_position INTEGER NOT NULL
) STRICT;
INSERT INTO engine VALUES (1, 0, 0);
`
