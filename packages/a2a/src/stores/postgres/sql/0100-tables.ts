/**
 * The tables and indexes of the first schema.
 *
 * `tasks.ref` identifies a task in all other tables. Columns that change often come first in the row, and some of every page stays
 * free, so that an append that changes no index is a heap-only update. `last_at` is the time of the last record: no later record is
 * written with an earlier one. Names that callers choose are indexed only by a digest: an entry of a B-tree may not be longer than
 * 2,700 bytes.
 *
 * A row of `log` is an append, not a record. Its `position` is the number of the transaction and the place of the append in it (see
 * 0100-append.ts), because the order of a sequence is not the order in which transactions commit. The records of a row with
 * `not_before` count as no earlier: its text stays as it came, because PostgreSQL cannot write one with \u0000 anew. `checksum`, also
 * that of a snapshot, is a CRC-32 computed by the writer: `parley verify` finds a changed letter.
 *
 * Blobs belong to their task. Sharing them between tasks would need a count that appends and removals of all replicas lock; the
 * price is that a file sent to two tasks is stored twice.
 *
 * The indexes `tasks_search` and `tasks_owner` are for searches of the operator over all owners. The agent and the state come before
 * the time: a list of all tasks merges the ranges of the agents and states that occur, which are few. Running tasks (SUBMITTED 1,
 * WORKING 2) are excluded: they are few at any time, and the counters of their owners find them. So a task enters these indexes once
 * in its life, and not with each change of its state.
 *
 * `notes` is the key-value table. Its kinds and keys are bytes, so that they are ordered by bytes whatever the locale of the database.
 * A counter in it is written often and its expiry seldom changes: some of every page stays free here, too.
 *
 * A row of `writers` is what a store last wrote and its results: a store that loses the connection during a commit finds there
 * whether it happened.
 */
export const tables = `
CREATE SEQUENCE task_refs;
CREATE TABLE tasks (
  ref bigint PRIMARY KEY,
  head bigint NOT NULL,
  consumed_seq bigint NOT NULL,
  visible_seq bigint NOT NULL,
  last_at bigint NOT NULL,
  fence bigint NOT NULL,
  lease_until bigint,
  due_at bigint,
  status_at bigint NOT NULL,
  created_at bigint NOT NULL,
  partition_key uuid NOT NULL,
  owner_key uuid NOT NULL,
  state smallint NOT NULL,
  finished boolean NOT NULL,
  pushed boolean NOT NULL DEFAULT false,
  log_dropped boolean NOT NULL DEFAULT false,
  due_kind text,
  holder text,
  id text COLLATE "C" NOT NULL,
  context_id text COLLATE "C" NOT NULL,
  tenant text NOT NULL,
  agent text NOT NULL,
  owner text NOT NULL,
  status text NOT NULL,
  metadata text
) WITH (fillfactor = 75);
CREATE UNIQUE INDEX tasks_id ON tasks (id);
CREATE INDEX tasks_list ON tasks (partition_key, state, status_at, id);
CREATE INDEX tasks_context ON tasks (hashtextextended(context_id, 0));
CREATE INDEX tasks_leased ON tasks (created_at, id) WHERE holder IS NOT NULL AND NOT finished;
CREATE INDEX tasks_due ON tasks (due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX tasks_finished ON tasks (log_dropped, status_at, id) WHERE finished;
CREATE INDEX tasks_search ON tasks (hashtextextended(agent, 0), state, status_at, id) WHERE state NOT IN (1, 2);
CREATE INDEX tasks_owner ON tasks (hashtextextended(owner, 0), status_at, id) WHERE state NOT IN (1, 2);

CREATE TABLE log (
  position bigint PRIMARY KEY,
  task bigint NOT NULL,
  first_seq bigint NOT NULL,
  last_seq bigint NOT NULL,
  not_before bigint,
  checksum bigint NOT NULL,
  records text NOT NULL
);
CREATE UNIQUE INDEX log_task ON log (task, last_seq);
-- A flush of 16 streams of 20 chunks costs 13 % less than with the default compression, for the same size. Not every server has it.
DO $compress$
BEGIN
  ALTER TABLE log ALTER COLUMN records SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
  NULL;
END
$compress$;

CREATE TABLE messages (
  key uuid PRIMARY KEY,
  expires_at bigint NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  hash text NOT NULL
);
CREATE INDEX messages_task ON messages (task_id);
CREATE INDEX messages_expiry ON messages (expires_at);

-- Each store counts in a shard of its own, so that two replicas do not wait for each other's commits.
CREATE TABLE counters (
  owner_key uuid NOT NULL,
  partition_key uuid NOT NULL,
  state smallint NOT NULL,
  shard smallint NOT NULL,
  tasks bigint NOT NULL,
  PRIMARY KEY (owner_key, partition_key, state, shard)
) WITH (fillfactor = 50);

CREATE TABLE snapshots (
  task bigint PRIMARY KEY,
  seq bigint NOT NULL,
  checksum bigint NOT NULL,
  folded text NOT NULL,
  internal text NOT NULL
);

CREATE TABLE blobs (
  task bigint NOT NULL,
  digest text COLLATE "C" NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (task, digest)
);
-- CREATE TABLE knows STORAGE only from PostgreSQL 16 on.
ALTER TABLE blobs ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE SEQUENCE push_fences;
CREATE TABLE pushes (
  ref bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task bigint NOT NULL,
  delivered_seq bigint NOT NULL,
  due_at bigint,
  fence bigint NOT NULL,
  leased_until bigint,
  created_at bigint NOT NULL,
  attempt integer NOT NULL,
  state text NOT NULL,
  key uuid NOT NULL,
  id text NOT NULL,
  config text NOT NULL
);
CREATE UNIQUE INDEX pushes_task ON pushes (task, key);
CREATE INDEX pushes_due ON pushes (due_at, ref) WHERE due_at IS NOT NULL AND state = 'active';
CREATE INDEX pushes_state ON pushes (state, ref);

-- The answer is the start of the response of a receiver that did not accept an event, for the operator who looks for the cause.
CREATE TABLE push_attempts (
  ref bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task bigint NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  attempt integer NOT NULL,
  duration_ms double precision NOT NULL,
  push_key uuid NOT NULL,
  push_id text NOT NULL,
  outcome text NOT NULL,
  answer text
);
CREATE INDEX push_attempts_push ON push_attempts (task, push_key, ref);

CREATE TABLE keys (
  id text COLLATE "C" PRIMARY KEY,
  purpose text NOT NULL,
  material text NOT NULL,
  created_at bigint NOT NULL
);

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

CREATE TABLE writers (
  id uuid PRIMARY KEY,
  flush bigint NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now(),
  answer text
) WITH (fillfactor = 50);

-- Added to the transaction's number. Raised when a database was restored into a cluster whose numbers begin lower.
CREATE TABLE feed_base (
  only_row boolean PRIMARY KEY CHECK (only_row),
  base bigint NOT NULL
);
INSERT INTO feed_base VALUES (true, 0);
`
