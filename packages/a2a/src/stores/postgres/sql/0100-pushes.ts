/**
 * Push cursors. Both functions lock the task first, as an append does: either the append sees the cursor as written here, or the
 * decision here sees what the append made visible. Without the lock a cursor could go idle behind the log.
 */
export const pushes = `
CREATE FUNCTION save_push_1(
  of_task text, push_key uuid, push_id text, push_config text, delivered bigint, due_in bigint, tries integer, new_state text,
  made_at bigint, given_now bigint
) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT
AS $save$
DECLARE
  known record;
  moment bigint := coalesce(given_now, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  due bigint := moment + due_in;
BEGIN
  SELECT ref, visible_seq INTO known FROM tasks WHERE id = of_task FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  IF due IS NULL AND new_state = 'active' AND known.visible_seq > delivered THEN due := least(made_at, moment); END IF;
  INSERT INTO pushes (task, key, id, delivered_seq, due_at, attempt, state, created_at, fence, config)
  VALUES (known.ref, push_key, push_id, delivered, due, tries, new_state, made_at, nextval('push_fences'), push_config)
  ON CONFLICT (task, key) DO UPDATE SET delivered_seq = excluded.delivered_seq, due_at = excluded.due_at,
    attempt = excluded.attempt, state = excluded.state, created_at = excluded.created_at, fence = excluded.fence,
    leased_until = NULL, config = excluded.config;
  UPDATE tasks SET pushed = true WHERE ref = known.ref AND NOT pushed;
  RETURN true;
END
$save$;

CREATE FUNCTION move_push_1(
  of_task text, push_key uuid, under bigint, delivered bigint, sets_due bigint, tries integer, new_state text
) RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT
AS $move$
DECLARE
  known record;
BEGIN
  SELECT ref, visible_seq INTO known FROM tasks WHERE id = of_task FOR NO KEY UPDATE;
  UPDATE pushes SET
    delivered_seq = coalesce(delivered, delivered_seq),
    attempt = coalesce(tries, attempt),
    state = coalesce(new_state, state),
    due_at = CASE
      WHEN coalesce(new_state, state) <> 'active' THEN NULL
      WHEN sets_due IS NOT NULL THEN sets_due
      WHEN known.visible_seq > coalesce(delivered, delivered_seq) THEN due_at
    END,
    leased_until = NULL
  WHERE task = known.ref AND key = push_key AND fence = under AND leased_until IS NOT NULL;
  RETURN FOUND;
END
$move$;
`
