/** The most frequent reads, for many tasks at once. As functions, because their plans are then cached even behind a pooler. */
const settings = `LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET enable_seqscan = off
  SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`

export const reads = `
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

-- A reader may begin in the middle of a row of the log: the row it begins in ends after the seq it has seen. A read is bounded by bytes
-- as well as by rows: it ends with the row that reaches the bound. The length of a text is known without loading the text.
CREATE FUNCTION records_1(ids text[], after_seqs bigint[], limits bigint[], bytes bigint[])
RETURNS TABLE (n bigint, ref bigint, first_seq bigint, records text, not_before bigint) ${settings}
AS $records$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT asked.n, task.ref, found.first_seq, found.records, found.not_before
  FROM unnest(ids, after_seqs, limits, bytes) WITH ORDINALITY AS asked (id, after_seq, most, room, n)
  JOIN tasks AS task ON task.id = asked.id
  CROSS JOIN LATERAL (
    SELECT sized.first_seq, sized.last_seq, sized.records, sized.not_before FROM (
      SELECT log.first_seq, log.last_seq, log.records, log.not_before,
        sum(octet_length(log.records)) OVER (ORDER BY log.last_seq) - octet_length(log.records) AS before
      FROM (
        SELECT l.first_seq, l.last_seq, l.records, l.not_before FROM log AS l
        WHERE l.task = task.ref AND l.last_seq > asked.after_seq ORDER BY l.last_seq
        LIMIT asked.most
      ) AS log
    ) AS sized WHERE sized.before < asked.room
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
