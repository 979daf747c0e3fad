/** Push cursors and their attempts. A cursor is behind, and therefore due, if the task has a visible record above it. */
import type { Struct } from '../../model/task.ts'
import { keptAttempts, trimEverySeqs } from '../push-store.ts'
import type { ClaimedPush, PushAttempt, PushChange, PushPage, PushQuery, PushRow } from '../store.ts'
import { type DatabaseTime, type PostgresDatabase, currentTimeSql } from './database.ts'
import { nameDigest, decodeText, encodeText } from './text-encoding.ts'

interface PushColumns {
  readonly task_id: string
  readonly id: string
  readonly delivered_seq: unknown
  readonly due_at: unknown
  readonly attempt: number
  readonly state: PushRow['state']
  readonly created_at: unknown
  readonly fence: unknown
  readonly config: string
}

export function createPostgresPushCursors(
  database: PostgresDatabase,
  schema: string,
  { now, offsetFromNow }: DatabaseTime,
) {
  const columns = `t.id AS task_id, p.id, p.delivered_seq, p.due_at, p.attempt, p.state, p.created_at, p.fence, p.config`
  const ofTask = `${schema}.pushes AS p JOIN ${schema}.tasks AS t ON t.ref = p.task WHERE t.id = $1`
  const one = `SELECT ${columns} FROM ${ofTask} AND p.key = $2`
  const all = `SELECT ${columns} FROM ${ofTask} ORDER BY p.ref`
  const newest = `
    SELECT p.ref, ${columns} FROM ${schema}.pushes AS p JOIN ${schema}.tasks AS t ON t.ref = p.task
    WHERE p.ref < $1 ORDER BY p.ref DESC LIMIT $2`
  const newestInState = newest.replace('WHERE', 'WHERE p.state = $3 AND')
  const save = `SELECT ${schema}.save_push_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) AS done`
  const move = `SELECT ${schema}.move_push_1($1, $2, $3, $4, ${currentTimeSql('$8')} + $5::bigint, $6, $7) AS done`
  const remove = `
    DELETE FROM ${schema}.pushes WHERE key = $2 AND task = (SELECT ref FROM ${schema}.tasks WHERE id = $1)
      AND ($3::bigint IS NULL OR (fence = $3 AND leased_until IS NOT NULL)) RETURNING ref`
  const time = (later: string): string => `(SELECT ${currentTimeSql('$1')} + ${later}::bigint)`
  const claim = `
    WITH found AS MATERIALIZED (
      SELECT ref FROM ${schema}.pushes
      WHERE due_at IS NOT NULL AND state = 'active' AND due_at <= ${time('$2')}
        AND (leased_until IS NULL OR leased_until <= ${time('$2')})
      ORDER BY due_at, ref LIMIT $4 FOR UPDATE SKIP LOCKED
    )
    UPDATE ${schema}.pushes AS p SET leased_until = ${time('$3')}, fence = nextval('${schema}.push_fences')
    FROM found, ${schema}.tasks AS t WHERE p.ref = found.ref AND t.ref = p.task RETURNING p.ref, ${columns}`
  const addAttempt = `
    INSERT INTO ${schema}.push_attempts (task, push_key, push_id, seq, at, attempt, outcome, duration_ms, answer)
    SELECT ref, $2, $3, $4, $5, $6, $7, $8, $9 FROM ${schema}.tasks WHERE id = $1`
  const trimAttempts = `
    DELETE FROM ${schema}.push_attempts WHERE ref IN (
      SELECT a.ref FROM ${schema}.push_attempts AS a JOIN ${schema}.tasks AS t ON t.ref = a.task
      WHERE t.id = $1 AND a.push_key = $2 ORDER BY a.ref DESC OFFSET ${keptAttempts})`
  const attempts = `
    SELECT a.push_id, a.seq, a.at, a.attempt, a.outcome, a.duration_ms, a.answer
    FROM ${schema}.push_attempts AS a JOIN ${schema}.tasks AS t ON t.ref = a.task
    WHERE t.id = $1 AND a.push_key = $2 ORDER BY a.ref DESC LIMIT $3`

  const distanceOf = (at: number | null | undefined): number | null =>
    at === null || at === undefined ? null : offsetFromNow(at)

  return {
    async load(taskId: string, id: string): Promise<PushRow | undefined> {
      const [row] = await database.queryWithRetry<PushColumns>(one, encodeText(taskId), nameDigest(id))
      return row && pushOf(row)
    },
    async list(taskId: string): Promise<readonly PushRow[]> {
      return (await database.queryWithRetry<PushColumns>(all, encodeText(taskId))).map(pushOf)
    },
    async search({ state, before = Number.MAX_SAFE_INTEGER, limit }: PushQuery): Promise<PushPage> {
      const rows = await (state === undefined
        ? database.queryWithRetry<PushColumns & { ref: unknown }>(newest, before, limit + 1)
        : database.queryWithRetry<PushColumns & { ref: unknown }>(newestInState, before, limit + 1, state))
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { pushes: rows.slice(0, limit).map(pushOf), ...(last !== undefined ? { before: Number(last.ref) } : {}) }
    },
    async save(push: PushRow): Promise<void> {
      const { taskId, id, config, deliveredSeq, dueAt, attempt, state, createdAt } = push
      const values = [encodeText(taskId), nameDigest(id), encodeText(id), JSON.stringify(config)]
      const cursor = [deliveredSeq, distanceOf(dueAt), attempt, state, createdAt, now()]
      const [row] = await database.queryWithRetry<{ done: boolean }>(save, ...values, ...cursor)
      if (row?.done !== true) throw new Error(`Unknown task ${taskId}`)
    },
    async delete(taskId: string, id: string, fence?: number): Promise<boolean> {
      return (await database.query(remove, encodeText(taskId), nameDigest(id), fence ?? null)).length > 0
    },
    /** Claims what is due `shiftMs` from now, until `untilMs` from now. */
    async claim(shiftMs: number, untilMs: number, limit: number): Promise<readonly ClaimedPush[]> {
      const values = [now(), shiftMs, untilMs, limit]
      const rows = await database.query<PushColumns & { ref: unknown }>(claim, ...values)
      return [...rows]
        .sort((a, b) => Number(a.due_at) - Number(b.due_at) || Number(a.ref) - Number(b.ref))
        .map((row) => ({ push: pushOf(row), fence: Number(row.fence) }))
    },
    async move(taskId: string, id: string, fence: number, change: PushChange): Promise<boolean> {
      const { deliveredSeq = null, dueAt, attempt = null, state = null } = change
      const values = [encodeText(taskId), nameDigest(id), fence, deliveredSeq, distanceOf(dueAt), attempt, state, now()]
      const [row] = await database.query<{ done: boolean }>(move, ...values)
      return row?.done === true
    },
    async recordAttempt(made: PushAttempt): Promise<void> {
      const { taskId, pushId, seq, at, attempt, outcome, durationMs, answer } = made
      const values = [
        encodeText(taskId),
        nameDigest(pushId),
        encodeText(pushId),
        seq,
        at,
        attempt,
        encodeText(outcome),
        durationMs,
      ]
      await database.query(addAttempt, ...values, answer === undefined ? null : encodeText(answer))
      if (seq % trimEverySeqs === 0) await database.query(trimAttempts, encodeText(taskId), nameDigest(pushId))
    },
    async listAttempts(taskId: string, pushId: string, limit: number): Promise<readonly PushAttempt[]> {
      const rows = await database.queryWithRetry<AttemptColumns>(
        attempts,
        encodeText(taskId),
        nameDigest(pushId),
        limit,
      )
      return rows.map((row) => ({
        taskId,
        pushId: decodeText(row.push_id),
        seq: Number(row.seq),
        at: Number(row.at),
        attempt: row.attempt,
        outcome: decodeText(row.outcome),
        durationMs: Number(row.duration_ms),
        ...(row.answer === null ? {} : { answer: decodeText(row.answer) }),
      }))
    },
  }
}

export interface AttemptColumns {
  readonly push_id: string
  readonly seq: unknown
  readonly at: unknown
  readonly attempt: number
  readonly outcome: string
  readonly duration_ms: unknown
  readonly answer: string | null
}

function pushOf(row: PushColumns): PushRow {
  return {
    taskId: decodeText(row.task_id),
    id: decodeText(row.id),
    config: JSON.parse(row.config) as Struct,
    deliveredSeq: Number(row.delivered_seq),
    ...(row.due_at === null ? {} : { dueAt: Number(row.due_at) }),
    attempt: row.attempt,
    state: row.state,
    createdAt: Number(row.created_at),
  }
}
