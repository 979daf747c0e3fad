/**
 * Which message was claimed for which task. Keys are hashed: a caller chooses them, of any length, and an index over
 * sixteen bytes stays small. A claim ends with its time or with its task; the row is swept out later.
 */
import { hash } from 'node:crypto'
import type { IdempotencyKey } from '../store.ts'
import { createClaimFilter } from './claim-filter.ts'
import type { Database } from './database.ts'
import { wholeTime } from './rows.ts'

export interface Claim {
  readonly taskId: string
  readonly hash: string
}

export type Messages = ReturnType<typeof createMessages>

export function createMessages(database: Database) {
  const isHeld = 'expires_at > ? AND EXISTS (SELECT 1 FROM tasks WHERE tasks.id = messages.task_id)'
  const find = database.prepare<Claim>(`SELECT task_id AS taskId, hash FROM messages WHERE key = ? AND ${isHeld}`)
  const claim = database.prepare(`
    INSERT INTO messages (key, task_id, hash, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (key) DO UPDATE
    SET task_id = excluded.task_id, hash = excluded.hash, expires_at = excluded.expires_at WHERE NOT (messages.${isHeld})`)
  const unclaim = database.prepare('DELETE FROM messages WHERE key = ?')
  const sweep = database.prepare(`
    DELETE FROM messages WHERE rowid IN (
      SELECT rowid FROM messages WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`)

  const filter = createClaimFilter(database)
  const digestOf = (key: string): Uint8Array => hash('sha256', key, 'buffer').subarray(0, 16)

  function heldBy(digest: Uint8Array, now: number): Claim | undefined {
    const row = find.get(digest, now)
    return row && { taskId: row.taskId, hash: row.hash }
  }

  return {
    find(key: string, now: number): Claim | undefined {
      const digest = digestOf(key)
      return filter.mayHold(digest) ? heldBy(digest, now) : undefined
    },
    /** Answers who has it already, or nothing if it is now this task's. */
    claim(key: IdempotencyKey, taskId: string, now: number): Claim | undefined {
      const digest = digestOf(key.key)
      filter.add(digest)
      if (claim.run(digest, taskId, key.hash, wholeTime(key.expiresAt), now) > 0) return undefined
      return heldBy(digest, now)
    },
    unclaim: ({ key }: IdempotencyKey) => void unclaim.run(digestOf(key)),
    /** Answers how many went. */
    sweep: (now: number, limit: number): number => sweep.run(now, limit),
  }
}
