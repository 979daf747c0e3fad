/** Prunes in one call that one replica makes at a time: two that count the same excess would each remove it. */
export const prune = `
CREATE FUNCTION prune_1(finished_before bigint, most_tasks bigint, log_before bigint, batch integer) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT SET jit = off
AS $prune$
DECLARE
  total bigint;
  excess bigint;
  removed bigint[] := '{}';
  surplus bigint[] := '{}';
  dropped bigint[] := '{}';
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended(current_schema() || '/prune', 0)) THEN RETURN 0; END IF;
  IF finished_before IS NOT NULL THEN removed := oldest_finished_1(finished_before, batch, removed); END IF;
  IF most_tasks IS NOT NULL THEN
    SELECT coalesce(sum(tasks), 0) INTO total FROM counters;
    excess := least(total - cardinality(removed) - most_tasks, batch - cardinality(removed));
    IF excess > 0 THEN surplus := oldest_finished_1(9007199254740991, excess::integer, removed); END IF;
    removed := removed || surplus;
  END IF;
  IF log_before IS NOT NULL AND batch > cardinality(removed) THEN
    dropped := ARRAY(
      SELECT ref FROM tasks
      WHERE finished AND NOT log_dropped AND status_at < log_before AND ref <> ALL (removed)
        AND NOT (pushed AND EXISTS (SELECT FROM pushes WHERE task = tasks.ref AND pushes.state = 'active'))
        AND EXISTS (SELECT FROM snapshots WHERE task = tasks.ref AND seq >= head)
      ORDER BY status_at, id LIMIT batch - cardinality(removed) FOR UPDATE SKIP LOCKED);
  END IF;

  DELETE FROM log WHERE task = ANY (removed || dropped);
  UPDATE tasks SET log_dropped = true WHERE ref = ANY (dropped);
  IF cardinality(removed) > 0 THEN
    INSERT INTO counters AS c (owner_key, partition_key, state, shard, tasks)
    SELECT owner_key, partition_key, state, 0, -count(*) FROM tasks WHERE ref = ANY (removed) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (owner_key, partition_key, state, shard) DO UPDATE SET tasks = c.tasks + excluded.tasks;
    -- Counts that have come to nothing go, with all their shards: an owner who was here once leaves no trace.
    WITH mine AS MATERIALIZED (
      SELECT * FROM counters WHERE (owner_key, partition_key) IN (
        SELECT owner_key, partition_key FROM tasks WHERE ref = ANY (removed)
      ) ORDER BY owner_key, partition_key, state, shard FOR UPDATE
    ), over AS (
      SELECT owner_key, partition_key, state FROM mine GROUP BY 1, 2, 3 HAVING sum(tasks) = 0
    )
    DELETE FROM counters AS c USING mine JOIN over USING (owner_key, partition_key, state)
    WHERE c.owner_key = mine.owner_key AND c.partition_key = mine.partition_key AND c.state = mine.state AND c.shard = mine.shard;
    DELETE FROM messages WHERE task_id IN (SELECT id FROM tasks WHERE ref = ANY (removed));
    DELETE FROM snapshots WHERE task = ANY (removed);
    DELETE FROM blobs WHERE task = ANY (removed);
    DELETE FROM pushes WHERE task = ANY (removed);
    DELETE FROM push_attempts WHERE task = ANY (removed);
    DELETE FROM tasks WHERE ref = ANY (removed);
  END IF;
  RETURN cardinality(removed) + cardinality(dropped);
END
$prune$;

-- Looked at again once they are locked: a cursor may have been saved meanwhile, and after that it comes too late.
CREATE FUNCTION oldest_finished_1(before bigint, most integer, except_for bigint[]) RETURNS bigint[]
LANGUAGE plpgsql SET search_path FROM CURRENT SET jit = off
AS $oldest$
DECLARE
  found bigint[];
BEGIN
  found := ARRAY(
    SELECT ref FROM (
      (SELECT ref, status_at, id FROM tasks WHERE finished AND NOT log_dropped AND status_at < before AND ref <> ALL (except_for)
        AND NOT (pushed AND EXISTS (SELECT FROM pushes WHERE task = tasks.ref AND pushes.state = 'active'))
        ORDER BY status_at, id LIMIT most)
      UNION ALL
      (SELECT ref, status_at, id FROM tasks WHERE finished AND log_dropped AND status_at < before AND ref <> ALL (except_for)
        AND NOT (pushed AND EXISTS (SELECT FROM pushes WHERE task = tasks.ref AND pushes.state = 'active'))
        ORDER BY status_at, id LIMIT most)
    ) AS both_kinds ORDER BY status_at, id LIMIT most);
  found := ARRAY(SELECT ref FROM tasks WHERE ref = ANY (found) ORDER BY id FOR UPDATE SKIP LOCKED);
  RETURN ARRAY(
    SELECT ref FROM tasks WHERE ref = ANY (found)
      AND NOT (pushed AND EXISTS (SELECT FROM pushes WHERE task = tasks.ref AND pushes.state = 'active')));
END
$oldest$;
`
