/**
 * The append, decided and written by the database in one call: one round trip, and no lock is held while the network or a paused
 * process delays others. It implements the same rules as `decide-append.ts`; a test compares the two over random appends.
 *
 * Times: a writer passes offsets (`due_in`, `claim_ms`), to which the time of the database is added, so replicas whose clocks differ
 * agree. A record counts as no earlier than the last one of its task, whatever clock it came from.
 *
 * The order of the feed: positions are transaction ids, and a transaction gets its id before it waits for the rows of its tasks. One
 * with a greater id may append to a task meanwhile. Then the append is undone, and tried again with a new id. A race lost after the
 * check (another process wrote the same message or the same new task) is raised in the same way: then the check finds it.
 *
 * Cost: the settings of the function restrict its plans to index lookups, whatever size the tables had when the plans were created.
 * Plans are generic: with a plan for the given ids, `tasks` was planned anew for every flush, which took 190 µs. Conditions about a
 * task are computed beside its row, and not joined by the number of the append: without hash joins that compared every append of a
 * flush with every other.
 *
 * The result of a written append has the new head, the fence, the position of its row in the feed and the time that its records are
 * raised to, if they are: the writer can then keep the records for a reader of the feed.
 */
export const append = `
CREATE FUNCTION append_1(
  writer_id uuid, flush_number bigint, shard_number smallint, extended text[], given json, given_blobs json, given_now bigint
) RETURNS text LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
SET plan_cache_mode = force_generic_plan
AS $append$
DECLARE
  moment bigint;
  first_position bigint;
  lost bigint;
  answers text;
  may_be_late boolean;
BEGIN
  PERFORM FROM writers WHERE id = writer_id AND flush = flush_number - 1 FOR UPDATE;
  -- The writer gave this flush up and retried: its callers know that it was not done, so it must not be done late.
  IF NOT FOUND THEN RETURN NULL; END IF;

  -- In one order, so that two writers of the same tasks do not deadlock.
  IF cardinality(extended) > 0 THEN
    SELECT bool_or(age(locked.xmin) < 0) INTO may_be_late FROM (
      SELECT xmin FROM tasks WHERE id = ANY (extended) ORDER BY id FOR NO KEY UPDATE) AS locked;
  END IF;
  moment := coalesce(given_now, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  SELECT (pg_current_xact_id()::text::bigint + base) * 1024 INTO first_position FROM feed_base WHERE only_row;
  -- A transaction with a greater number has appended to one of the tasks while this one waited for the lock.
  IF may_be_late AND EXISTS (
    SELECT FROM tasks AS t WHERE t.id = ANY (extended)
      AND (SELECT l.position FROM log AS l WHERE l.task = t.ref ORDER BY l.last_seq DESC LIMIT 1) > first_position
  ) THEN RAISE EXCEPTION 'the feed has a later append of the task' USING ERRCODE = 'serialization_failure'; END IF;

  WITH asked AS MATERIALIZED (
    SELECT * FROM json_to_recordset(given) AS asked (
      n integer, id text, expected bigint, later boolean, fence bigint, count integer, records text, checksum bigint,
      visible bigint, first_at bigint, at bigint,
      key uuid, hash text, claim_ms bigint, holder text, ttl bigint, release boolean,
      state smallint, finished boolean, status text, status_at bigint, consumed bigint,
      sets_due boolean, due_kind text, due_in bigint,
      makes boolean, context text, tenant text, agent text, owner text, partition_key uuid, owner_key uuid,
      created bigint, metadata text)
  ), judged AS MATERIALIZED (
    SELECT asked.*, asked.holder IS NOT NULL AND NOT is_others AS takes, task.ref AS found, task.head AS was_head,
      task.fence AS was_fence, task.state AS was_state, task.last_at AS was_at, task.pushed,
      task.partition_key AS was_partition, task.owner_key AS was_owner, claim.task_id AS claimed_by, claim.hash AS claimed_hash,
      CASE WHEN task.ref IS NULL AND makes THEN nextval('task_refs') ELSE task.ref END AS ref,
      CASE
        WHEN claim.key IS NOT NULL THEN 4
        WHEN task.ref IS NULL AND (makes IS NULL OR expected <> 0) THEN 1
        WHEN task.ref IS NOT NULL AND makes THEN 1
        WHEN asked.fence IS NOT NULL
          AND (task.holder IS NULL OR task.lease_until <= moment OR task.fence <> asked.fence) THEN 2
        WHEN task.head <> expected AND NOT (may_be_later AND task.head > expected) THEN 1
        WHEN asked.holder IS NOT NULL AND is_others AND NOT may_be_later THEN 3
        ELSE 0
      END AS outcome
    FROM asked
    LEFT JOIN tasks AS task ON task.id = asked.id
    CROSS JOIN LATERAL (
      SELECT coalesce(task.lease_until > moment AND task.holder IS DISTINCT FROM asked.holder, false) AS is_others
    ) AS held
    CROSS JOIN LATERAL (
      SELECT coalesce(asked.later AND asked.status IS NULL AND is_others AND NOT task.finished, false) AS may_be_later
    ) AS placed
    LEFT JOIN messages AS claim ON claim.key = asked.key AND claim.expires_at > moment
  ), claimed AS (
    INSERT INTO messages AS m (key, task_id, hash, expires_at)
    SELECT key, id, hash, moment + claim_ms FROM judged WHERE outcome = 0 AND key IS NOT NULL ORDER BY key
    ON CONFLICT (key) DO UPDATE
    SET task_id = excluded.task_id, hash = excluded.hash, expires_at = excluded.expires_at WHERE m.expires_at <= moment
    RETURNING 1
  ), made AS (
    INSERT INTO tasks (ref, head, consumed_seq, visible_seq, fence, lease_until, due_at, status_at, created_at,
      partition_key, owner_key, state, finished, due_kind, holder, id, context_id, tenant, agent, owner, status, metadata, last_at)
    SELECT ref, count, coalesce(consumed, 0), coalesce(visible, 0),
      CASE WHEN holder IS NOT NULL AND release IS NULL THEN 1 ELSE 0 END, CASE WHEN release IS NULL THEN moment + ttl END,
      CASE WHEN NOT finished THEN moment + due_in END, status_at, created, partition_key, owner_key, state, finished,
      CASE WHEN NOT finished THEN due_kind END, CASE WHEN release IS NULL THEN holder END,
      id, context, tenant, agent, owner, status, metadata, coalesce(at, 0)
    FROM judged WHERE outcome = 0 AND makes
    ON CONFLICT (id) DO NOTHING RETURNING 1
  ), moved AS (
    UPDATE tasks AS t SET
      head = t.head + j.count,
      consumed_seq = coalesce(j.consumed, t.consumed_seq),
      visible_seq = coalesce(j.visible + j.was_head - j.expected, t.visible_seq),
      state = coalesce(j.state, t.state),
      finished = coalesce(j.finished, t.finished),
      status = coalesce(j.status, t.status),
      status_at = coalesce(j.status_at, t.status_at),
      last_at = greatest(j.at, j.was_at),
      holder = CASE WHEN j.release THEN NULL WHEN j.takes THEN j.holder ELSE t.holder END,
      lease_until = CASE WHEN j.release THEN NULL WHEN j.takes THEN moment + j.ttl ELSE t.lease_until END,
      fence = t.fence + CASE WHEN j.release OR NOT j.takes THEN 0 ELSE 1 END,
      due_kind = CASE WHEN coalesce(j.finished, t.finished) THEN NULL WHEN j.sets_due THEN j.due_kind ELSE t.due_kind END,
      due_at = CASE WHEN coalesce(j.finished, t.finished) THEN NULL WHEN j.sets_due THEN moment + j.due_in ELSE t.due_at END
    FROM judged AS j
    WHERE j.outcome = 0 AND j.makes IS NULL AND t.ref = j.found
      AND t.head = j.was_head AND t.fence = j.was_fence AND t.state = j.was_state
    RETURNING 1
  ), logged AS (
    INSERT INTO log (position, task, first_seq, last_seq, not_before, checksum, records)
    SELECT first_position + n, ref,
      coalesce(was_head, 0) + 1, coalesce(was_head, 0) + count,
      CASE WHEN first_at >= was_at THEN NULL ELSE was_at END, checksum, records
    FROM judged WHERE outcome = 0 AND count > 0 ORDER BY n
  ), kept AS (
    INSERT INTO blobs (task, digest, content)
    SELECT DISTINCT ref, digest, decode(content, 'base64')
    FROM json_to_recordset(given_blobs) AS blob (n integer, digest text, content text) JOIN judged USING (n)
    WHERE outcome = 0 ON CONFLICT DO NOTHING
  ), counted AS (
    INSERT INTO counters AS c (owner_key, partition_key, state, shard, tasks)
    SELECT whose, part, in_state, shard_number, sum(by) FROM (
      SELECT owner_key AS whose, partition_key AS part, state AS in_state, 1 AS by FROM judged WHERE outcome = 0 AND makes
      UNION ALL
      SELECT was_owner, was_partition, state, 1 FROM judged WHERE outcome = 0 AND makes IS NULL AND state <> was_state
      UNION ALL
      SELECT was_owner, was_partition, was_state, -1 FROM judged WHERE outcome = 0 AND makes IS NULL AND state <> was_state
    ) AS changes GROUP BY 1, 2, 3 HAVING sum(by) <> 0 ORDER BY 1, 2, 3
    ON CONFLICT (owner_key, partition_key, state, shard) DO UPDATE SET tasks = c.tasks + excluded.tasks
  ), woken AS (
    UPDATE pushes AS p SET due_at = least(j.at, moment) FROM judged AS j
    WHERE j.outcome = 0 AND j.pushed AND j.visible IS NOT NULL AND p.task = j.ref AND p.state = 'active' AND p.due_at IS NULL
  )
  SELECT
    count(*) FILTER (WHERE outcome = 0 AND key IS NOT NULL) - (SELECT count(*) FROM claimed)
      + count(*) FILTER (WHERE outcome = 0) - (SELECT count(*) FROM made) - (SELECT count(*) FROM moved),
    json_agg(CASE outcome
      WHEN 0 THEN json_build_array(0, coalesce(was_head, 0) + count, CASE
        WHEN release THEN NULL WHEN takes THEN coalesce(was_fence, 0) + 1 ELSE fence END,
        first_position + n, CASE WHEN first_at >= was_at THEN NULL ELSE was_at END)
      WHEN 1 THEN json_build_array(1, coalesce(was_head, 0))
      WHEN 4 THEN json_build_array(4, claimed_by, claimed_hash)
      ELSE json_build_array(outcome)
    END ORDER BY n)
  INTO lost, answers FROM judged;

  IF lost <> 0 THEN RAISE EXCEPTION 'a race was lost' USING ERRCODE = 'serialization_failure'; END IF;
  UPDATE writers SET flush = flush_number, answer = answers, seen_at = now() WHERE id = writer_id;
  RETURN answers;
END
$append$;

-- Answers what a flush was answered, if it was written. If it was not, it never will be. Waits for it while it is under way.
CREATE FUNCTION settle_1(writer_id uuid, flush_number bigint) RETURNS text LANGUAGE plpgsql SET search_path FROM CURRENT
AS $settle$
DECLARE
  known record;
BEGIN
  INSERT INTO writers (id, flush) VALUES (writer_id, flush_number) ON CONFLICT (id) DO NOTHING;
  SELECT flush, answer INTO known FROM writers WHERE id = writer_id FOR UPDATE;
  IF known.flush >= flush_number THEN RETURN known.answer; END IF;
  UPDATE writers SET flush = flush_number, answer = NULL WHERE id = writer_id;
  RETURN NULL;
END
$settle$;
`
