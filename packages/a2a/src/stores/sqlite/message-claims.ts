/**
 * Which message was claimed for which task. Keys are hashed: a caller chooses them, of any length. A claim ends when it expires or
 * with its task; the row is removed later. Times are steady times: the caller converts them.
 *
 * The newest claims are a table in order of arrival, with a map of their digests in memory: a claim is written at the end of the
 * table, beside its neighbors. When there are enough, they are sealed: moved, sorted, to the end of an indexed table. A message is
 * looked up in the map and in each sealed generation whose filter returns "maybe", which is nearly always none.
 */
import { hash } from 'node:crypto'
import type { IdempotencyKey } from '../store.ts'
import { createClaimFilter, mightContain } from './claim-filter.ts'
import type { SqliteDatabase } from './database.ts'
import { toSqliteInteger } from './rows.ts'

export interface MessageClaim {
  readonly taskId: string
  readonly hash: string
}

interface ClaimGeneration {
  readonly number: number
  readonly filter: Uint32Array
  /** When most of it will have expired. */
  sweepAt: number
}

interface GenerationRow {
  readonly generation: number
  readonly sweep_at: number
  readonly filter: Uint8Array
}

/** Sealing this many takes about 20 ms. With a million claims there are then 120 filters to check, which takes 2 µs. */
const sealThreshold = 8_192
const hour = 3_600_000
/** The number and maximum length of keys that are remembered as unclaimed until they are claimed. */
const maxLooked = 256
const maxLookedChars = 512

export type SqliteMessageClaims = ReturnType<typeof createSqliteMessageClaims>

export function createSqliteMessageClaims(database: SqliteDatabase) {
  const columns = 'task_id AS taskId, hash'
  const isHeld = (table: string): string =>
    `expires_at > ? AND EXISTS (SELECT 1 FROM tasks WHERE tasks.id = ${table}.task_id)`
  const find = database.prepare<MessageClaim>(
    `SELECT ${columns} FROM messages WHERE position = ? AND key = ? AND ${isHeld('messages')}`,
  )
  const findSealed = database.prepare<MessageClaim>(
    `SELECT ${columns} FROM sealed_messages WHERE generation = ? AND key = ? AND ${isHeld('sealed_messages')}`,
  )
  const insert = database.prepare(
    'INSERT INTO messages (position, key, task_id, hash, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = database.prepare('DELETE FROM messages WHERE position = ?')
  const sweepNew = database.prepare('DELETE FROM messages WHERE expires_at <= ?')

  // If a key was claimed again after its first claim had ended, the later claim counts.
  const moveAll = database.prepare(`
    INSERT OR REPLACE INTO sealed_messages (generation, key, task_id, hash, expires_at)
    SELECT ?, key, task_id, hash, expires_at FROM messages ORDER BY key, position`)
  const removeAll = database.prepare('DELETE FROM messages')
  const latestExpiry = database.prepare<{ latest: number | null }>('SELECT max(expires_at) AS latest FROM messages')
  const addGeneration = database.prepare(
    'INSERT INTO message_generations (generation, sweep_at, filter) VALUES (?, ?, ?)',
  )
  const sweepSealed = database.prepare('DELETE FROM sealed_messages WHERE generation = ? AND expires_at <= ?')
  const anyLeft = database.prepare<{ left: 1 }>('SELECT 1 AS left FROM sealed_messages WHERE generation = ? LIMIT 1')
  const removeGeneration = database.prepare('DELETE FROM message_generations WHERE generation = ?')
  const sweepLater = database.prepare('UPDATE message_generations SET sweep_at = ? WHERE generation = ?')
  const allNew = database.prepare<{ position: number; key: Uint8Array }>(
    'SELECT position, key FROM messages ORDER BY position',
  )
  const allGenerations = database.prepare<GenerationRow>(
    'SELECT generation, sweep_at, filter FROM message_generations ORDER BY generation DESC',
  )

  /** The last position of a digest. It may have been rolled back or removed since: the row is checked. */
  let positions = new Map<string, number>()
  let lastPosition = 0
  /**
   * The digests of keys that no generation holds, as long as none is added. A message is looked up before it is claimed, and the
   * claim reuses the hash and the result of the lookup.
   */
  const looked = new Map<string, string>()
  /** Newest first. */
  let generations: ClaimGeneration[] = []
  /** An uncommitted transaction has changed the state in memory. */
  let isUncommitted = false
  read()

  function read(): void {
    positions = new Map()
    looked.clear()
    for (const { position, key } of allNew.iterate()) {
      positions.set(Buffer.from(key).toString('latin1'), position)
      lastPosition = Math.max(lastPosition, position)
    }
    generations = allGenerations.all().map(({ generation, sweep_at, filter }) => ({
      number: generation,
      filter: new Uint32Array(filter.buffer.slice(filter.byteOffset, filter.byteOffset + filter.byteLength)),
      sweepAt: sweep_at,
    }))
  }

  function heldBy(digest: string, now: number): MessageClaim | undefined {
    return newlyHeldBy(digest, now) ?? sealedBy(digest, now)
  }

  function newlyHeldBy(digest: string, now: number): MessageClaim | undefined {
    const position = positions.get(digest)
    const row = position === undefined ? undefined : find.get(position, bytesOf(digest), now)
    return row && { taskId: row.taskId, hash: row.hash }
  }

  function sealedBy(digest: string, now: number): MessageClaim | undefined {
    for (const { number, filter } of generations) {
      if (!mightContain(filter, digest)) continue
      const row = findSealed.get(number, bytesOf(digest), now)
      if (row !== undefined) return { taskId: row.taskId, hash: row.hash }
    }
    return undefined
  }

  function sweepGeneration(generation: ClaimGeneration, now: number): number {
    const swept = sweepSealed.run(generation.number, now)
    isUncommitted = true
    if (anyLeft.get(generation.number) === undefined) {
      removeGeneration.run(generation.number)
      generations = generations.filter((each) => each !== generation)
    } else {
      generation.sweepAt = now + 24 * hour
      sweepLater.run(generation.sweepAt, generation.number)
    }
    return swept
  }

  return {
    find(key: string, now: number): MessageClaim | undefined {
      const digest = digestOf(key)
      const held = heldBy(digest, now)
      if (looked.size >= maxLooked) looked.clear()
      if (held === undefined && key.length <= maxLookedChars) looked.set(key, digest)
      return held
    },
    /** Returns the existing claim, or `undefined` if this task has now claimed the key. */
    claim(key: IdempotencyKey, taskId: string, now: number): MessageClaim | undefined {
      const before = looked.get(key.key)
      const digest = before ?? digestOf(key.key)
      const held = before === undefined ? heldBy(digest, now) : newlyHeldBy(digest, now)
      if (held !== undefined) return held
      lastPosition += 1
      insert.run(lastPosition, bytesOf(digest), taskId, key.hash, toSqliteInteger(now + key.ttlMs))
      positions.set(digest, lastPosition)
      return undefined
    },
    unclaim({ key }: IdempotencyKey): void {
      const position = positions.get(digestOf(key))
      if (position !== undefined) remove.run(position)
    },

    /** Whether it is time to seal. */
    isFull: (): boolean => positions.size >= sealThreshold,
    /** Within a transaction. */
    seal(now: number): void {
      if (positions.size === 0) return
      const number = (generations[0]?.number ?? 0) + 1
      const latest = latestExpiry.get()?.latest ?? now
      // A single claim that never expires must not keep the others.
      const sweepAt = latest > now + 48 * hour ? now + 24 * hour : latest
      const filter = createClaimFilter(positions.keys(), positions.size)
      moveAll.run(number)
      addGeneration.run(number, sweepAt, new Uint8Array(filter.buffer))
      removeAll.run()
      isUncommitted = true
      generations = [{ number, filter, sweepAt }, ...generations]
      positions = new Map()
      looked.clear()
    },
    /** Returns how many were removed: about `limit` at most, but whole generations. */
    sweep(now: number, limit: number): number {
      let swept = positions.size === 0 ? 0 : sweepNew.run(now)
      for (const generation of generations.toReversed()) {
        if (swept >= limit) break
        if (generation.sweepAt <= now) swept += sweepGeneration(generation, now)
      }
      return swept
    },

    /** The transaction was committed, or a new one begins. */
    settle: () => void (isUncommitted = false),
    /** The transaction was rolled back, entirely or in part: the rest may follow. */
    forget(): void {
      if (isUncommitted) read()
    },
  }
}

/** Sixteen bytes, one per character: a string costs a third of a buffer, and can be the key of a map. */
function digestOf(key: string): string {
  return hash('sha256', key, 'binary').slice(0, 16)
}

function bytesOf(digest: string): Uint8Array {
  return Buffer.from(digest, 'latin1')
}
