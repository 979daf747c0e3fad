/** Push cursors and their attempts. A cursor is behind, and therefore due, if the task has a visible record above it. */
import type { Struct } from '../../model/task.ts'
import type { ClaimedPush, PushAttempt, PushChange, PushPage, PushQuery, PushRow } from '../store.ts'
import type { SqliteDatabase } from './database.ts'
import type { Epoch } from './epoch.ts'
import { keptAttempts, longestPauseMs, longestRetryMs, movedPush, savedPush, trimEverySeqs } from '../push-store.ts'
import { toSqliteInteger } from './rows.ts'

interface PushColumns {
  readonly ref: number
  readonly task: number
  readonly task_id: string
  readonly id: string
  readonly delivered_seq: number
  readonly due_at: number | null
  readonly attempt: number
  readonly state: PushRow['state']
  readonly created_at: number
  readonly fence: number
  readonly leased_until: number | null
  readonly config: string
  readonly visible_seq: number
}

export function createSqlitePushCursors(database: SqliteDatabase, epoch: Epoch) {
  const columns = `pushes.ref, task, tasks.id AS task_id, pushes.id, delivered_seq, pushes.due_at, attempt, pushes.state,
    pushes.created_at, pushes.fence, leased_until, config, visible_seq FROM pushes JOIN tasks ON tasks.ref = task`
  const one = database.prepare<PushColumns>(`SELECT ${columns} WHERE tasks.id = ? AND pushes.id = ?`)
  const ofTask = database.prepare<PushColumns>(`SELECT ${columns} WHERE tasks.id = ? ORDER BY pushes.ref`)
  // The plus keeps SQLite from using the index by state, which has no times.
  const due = database.prepare<PushColumns>(`
    SELECT ${columns} WHERE pushes.due_at IS NOT NULL AND pushes.due_at <= ?1 AND +pushes.state = 'active'
      AND (leased_until IS NULL OR leased_until <= ?1 OR pushes.fence < ?2) ORDER BY pushes.due_at, pushes.ref LIMIT ?3`)
  const newest = database.prepare<PushColumns>(
    `SELECT ${columns} WHERE pushes.ref < ? ORDER BY pushes.ref DESC LIMIT ?`,
  )
  const newestInState = database.prepare<PushColumns>(
    `SELECT ${columns} WHERE pushes.state = ? AND pushes.ref < ? ORDER BY pushes.ref DESC LIMIT ?`,
  )
  const findTask = database.prepare<{ ref: number; visible_seq: number }>(
    'SELECT ref, visible_seq FROM tasks WHERE id = ?',
  )
  const save = database.prepare(`
    INSERT INTO pushes (task, id, delivered_seq, due_at, attempt, state, created_at, fence, leased_until, config)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)
    ON CONFLICT (task, id) DO UPDATE SET delivered_seq = excluded.delivered_seq, due_at = excluded.due_at,
      attempt = excluded.attempt, state = excluded.state, created_at = excluded.created_at, fence = excluded.fence,
      leased_until = NULL, config = excluded.config`)
  const remove = database.prepare('DELETE FROM pushes WHERE ref = ?')
  const lease = database.prepare('UPDATE pushes SET fence = ?, leased_until = ? WHERE ref = ?')
  const move = database.prepare(
    'UPDATE pushes SET delivered_seq = ?, due_at = ?, attempt = ?, state = ?, leased_until = NULL WHERE ref = ?',
  )
  // The row of the task holds whether an append must wake a cursor, and whether the task may be pruned.
  const countLive = database.prepare(
    `UPDATE tasks SET pushes = (SELECT count(*) FROM pushes WHERE task = ?1 AND state = 'active') WHERE ref = ?1`,
  )
  const addAttempt = database.prepare(`
    INSERT INTO push_attempts (task, push_id, seq, at, attempt, outcome, duration_ms, answer)
    SELECT ref, ?, ?, ?, ?, ?, ?, ? FROM tasks WHERE id = ?`)
  const trimAttempts = database.prepare(`
    DELETE FROM push_attempts WHERE task = (SELECT ref FROM tasks WHERE id = ?1) AND push_id = ?2 AND ref <= (
      SELECT a.ref FROM push_attempts AS a JOIN tasks ON tasks.ref = a.task WHERE tasks.id = ?1 AND a.push_id = ?2
      ORDER BY a.ref DESC LIMIT 1 OFFSET ${keptAttempts})`)
  // As bytes: Node 22 reads a text only up to its first NUL.
  const attempts = database.prepare<Omit<PushAttempt, 'answer'> & { answer: Uint8Array | null }>(`
    SELECT tasks.id AS taskId, push_id AS pushId, seq, at, attempt, outcome, duration_ms AS durationMs,
      CAST(answer AS BLOB) AS answer
    FROM push_attempts JOIN tasks ON tasks.ref = task WHERE tasks.id = ? AND push_id = ?
    ORDER BY push_attempts.ref DESC LIMIT ?`)

  const limitWaits = database.prepare(`
    UPDATE pushes SET due_at = ?1 WHERE state = 'active' AND due_at > ?1 + CASE attempt WHEN 0 THEN ?2 ELSE ?3 END`)

  return {
    /** At the start: no cursor waits longer than a retry can, even if the clock was set back since it was written. */
    limitWaits: (now: number): void => void limitWaits.run(now, longestPauseMs, longestRetryMs),
    load(taskId: string, id: string): PushRow | undefined {
      const row = one.get(taskId, id)
      return row && pushOf(row)
    },
    list: (taskId: string): readonly PushRow[] => ofTask.all(taskId).map(pushOf),
    search({ state, before = Number.MAX_SAFE_INTEGER, limit }: PushQuery): PushPage {
      const rows = state === undefined ? newest.all(before, limit + 1) : newestInState.all(state, before, limit + 1)
      const last = rows.length > limit ? rows[limit - 1] : undefined
      return { pushes: rows.slice(0, limit).map(pushOf), ...(last !== undefined ? { before: last.ref } : {}) }
    },
    listAttempts: (taskId: string, pushId: string, limit: number) =>
      attempts
        .all(taskId, pushId, limit)
        .map(({ answer, ...row }): PushAttempt =>
          answer === null ? row : { ...row, answer: Buffer.from(answer).toString() },
        ),

    // All functions from here on run within a transaction.
    save(push: PushRow, atOnce: number): void {
      const task = findTask.get(push.taskId)
      if (task === undefined) throw new Error(`Unknown task ${push.taskId}`)
      const {
        id,
        deliveredSeq,
        dueAt = null,
        attempt,
        state,
        createdAt,
        config,
      } = savedPush(push, task.visible_seq, atOnce)
      const fence = epoch.newFence()
      save.run(task.ref, id, deliveredSeq, dueAt, attempt, state, createdAt, fence, JSON.stringify(config))
      countLive.run(task.ref)
    },
    delete(taskId: string, id: string, fence?: number): boolean {
      const row = one.get(taskId, id)
      if (row === undefined) return false
      if (fence !== undefined && (row.fence !== fence || row.leased_until === null)) return false
      remove.run(row.ref)
      countLive.run(row.task)
      return true
    },
    claim(now: number, until: number, limit: number): readonly ClaimedPush[] {
      return due.all(now, epoch.firstFence, limit).map((row) => {
        const fence = epoch.newFence()
        lease.run(fence, toSqliteInteger(until), row.ref)
        return { push: pushOf(row), fence }
      })
    },
    move(taskId: string, id: string, fence: number, change: PushChange): boolean {
      const row = one.get(taskId, id)
      if (row === undefined || row.fence !== fence || row.leased_until === null) return false
      const { deliveredSeq, dueAt = null, attempt, state } = movedPush(pushOf(row), change, row.visible_seq)
      move.run(deliveredSeq, dueAt, attempt, state, row.ref)
      if (state !== row.state) countLive.run(row.task)
      return true
    },
    recordAttempt({ taskId, pushId, seq, at, attempt, outcome, durationMs, answer }: PushAttempt): void {
      addAttempt.run(pushId, seq, at, attempt, outcome, durationMs, answer ?? null, taskId)
      if (seq % trimEverySeqs === 0) trimAttempts.run(taskId, pushId)
    },
  }
}

function pushOf(row: PushColumns): PushRow {
  return {
    taskId: row.task_id,
    id: row.id,
    config: JSON.parse(row.config) as Struct,
    deliveredSeq: row.delivered_seq,
    ...(row.due_at === null ? {} : { dueAt: row.due_at }),
    attempt: row.attempt,
    state: row.state,
    createdAt: row.created_at,
  }
}
