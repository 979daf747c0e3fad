/** The most frequent reads, for many tasks at once. As functions, because their plans are then cached even behind a pooler. */
const settings = `LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`

export const sql = `
CREATE FUNCTION heads_1(ids text[]) RETURNS TABLE (id text, head bigint) ${settings}
AS $heads$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT id, head FROM tasks WHERE id = ANY (ids);
END
$heads$;

CREATE FUNCTION tasks_1(ids text[]) RETURNS SETOF tasks ${settings}
AS $tasks$
BEGIN
  RETURN QUERY SELECT * FROM tasks WHERE id = ANY (ids);
END
$tasks$;

-- A reader may begin in the middle of a row of the log: the row it begins in ends after the seq it has seen.
CREATE FUNCTION records_1(ids text[], after_seqs bigint[], limits bigint[])
RETURNS TABLE (n bigint, ref bigint, first_seq bigint, records text) ${settings}
AS $records$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT asked.n, task.ref, found.first_seq, found.records
  FROM unnest(ids, after_seqs, limits) WITH ORDINALITY AS asked (id, after_seq, most, n)
  JOIN tasks AS task ON task.id = asked.id
  CROSS JOIN LATERAL (
    SELECT log.first_seq, log.last_seq, log.records FROM log
    WHERE log.task = task.ref AND log.last_seq > asked.after_seq ORDER BY log.last_seq LIMIT asked.most
  ) AS found
  ORDER BY asked.n, found.last_seq;
END
$records$;

CREATE FUNCTION claims_1(given uuid[]) RETURNS SETOF messages ${settings}
AS $claims$
BEGIN
  RETURN QUERY SELECT * FROM messages WHERE key = ANY (given);
END
$claims$;
`
