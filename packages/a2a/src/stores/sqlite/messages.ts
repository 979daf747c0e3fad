/**
 * Which message was claimed for which task. Keys are hashed: a caller chooses them, of any length. A claim ends with its
 * time or with its task; the row is swept out later. Times are on a scale without steps of the clock: whoever calls corrects them.
 *
 * The newest claims are a table in the order they came, with a map of their digests in memory: claiming writes at the end of
 * it, and with its neighbours. When there are enough they are sealed: moved, sorted, to the end of a table that has an
 * index. A message is looked for in the map and in each sealed generation whose filter says "maybe", and nearly always
 * that is none of them.
 */
import { hash } from 'node:crypto'
import type { IdempotencyKey } from '../store.ts'
import { createFilter, mayHold } from './claim-filter.ts'
import type { Database } from './database.ts'
import { wholeTime } from './rows.ts'

export interface Claim {
  readonly taskId: string
  readonly hash: string
}

interface Generation {
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

/** Sealing so many takes about 20 ms. With a million claims there are then 120 filters to ask, which takes 2 µs. */
const sealFrom = 8_192
const hour = 3_600_000
/** Of how many keys, and of how long ones, it is remembered until they are claimed that nobody held them. */
const maxLooked = 256
const maxLookedChars = 512

export type Messages = ReturnType<typeof createMessages>

export function createMessages(database: Database) {
  const columns = 'task_id AS taskId, hash'
  const isHeld = (table: string): string =>
    `expires_at > ? AND EXISTS (SELECT 1 FROM tasks WHERE tasks.id = ${table}.task_id)`
  const find = database.prepare<Claim>(
    `SELECT ${columns} FROM messages WHERE position = ? AND key = ? AND ${isHeld('messages')}`,
  )
  const findSealed = database.prepare<Claim>(
    `SELECT ${columns} FROM sealed_messages WHERE generation = ? AND key = ? AND ${isHeld('sealed_messages')}`,
  )
  const insert = database.prepare(
    'INSERT INTO messages (position, key, task_id, hash, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const remove = database.prepare('DELETE FROM messages WHERE position = ?')
  const sweepNew = database.prepare('DELETE FROM messages WHERE expires_at <= ?')

  // Of a key that was claimed again after its first claim had ended, the later claim counts.
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

  /** Where a digest was put last. It may have been rolled back or swept since: the row is looked at. */
  let positions = new Map<string, number>()
  let lastPosition = 0
  /**
   * The digests of keys that no generation holds, as long as none is added: a message is looked for before it is claimed, and
   * what was hashed and asked for the one need not be for the other.
   */
  const looked = new Map<string, string>()
  /** Newest first. */
  let generations: Generation[] = []
  /** What is in memory was changed by a transaction that is not committed yet. */
  let unsure = false
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

  function heldBy(digest: string, now: number): Claim | undefined {
    return newlyHeldBy(digest, now) ?? sealedBy(digest, now)
  }

  function newlyHeldBy(digest: string, now: number): Claim | undefined {
    const position = positions.get(digest)
    const row = position === undefined ? undefined : find.get(position, bytesOf(digest), now)
    return row && { taskId: row.taskId, hash: row.hash }
  }

  function sealedBy(digest: string, now: number): Claim | undefined {
    for (const { number, filter } of generations) {
      if (!mayHold(filter, digest)) continue
      const row = findSealed.get(number, bytesOf(digest), now)
      if (row !== undefined) return { taskId: row.taskId, hash: row.hash }
    }
    return undefined
  }

  function sweepGeneration(generation: Generation, now: number): number {
    const swept = sweepSealed.run(generation.number, now)
    unsure = true
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
    find(key: string, now: number): Claim | undefined {
      const digest = digestOf(key)
      const held = heldBy(digest, now)
      if (looked.size >= maxLooked) looked.clear()
      if (held === undefined && key.length <= maxLookedChars) looked.set(key, digest)
      return held
    },
    /** Answers who has it already, or nothing if it is now this task's. */
    claim(key: IdempotencyKey, taskId: string, now: number): Claim | undefined {
      const before = looked.get(key.key)
      const digest = before ?? digestOf(key.key)
      const held = before === undefined ? heldBy(digest, now) : newlyHeldBy(digest, now)
      if (held !== undefined) return held
      lastPosition += 1
      insert.run(lastPosition, bytesOf(digest), taskId, key.hash, wholeTime(now + key.ttlMs))
      positions.set(digest, lastPosition)
      return undefined
    },
    unclaim({ key }: IdempotencyKey): void {
      const position = positions.get(digestOf(key))
      if (position !== undefined) remove.run(position)
    },

    /** Whether it is time to seal. */
    isFull: (): boolean => positions.size >= sealFrom,
    /** Within a transaction. */
    seal(now: number): void {
      if (positions.size === 0) return
      const number = (generations[0]?.number ?? 0) + 1
      const latest = latestExpiry.get()?.latest ?? now
      // One claim that holds for ever must not keep the others.
      const sweepAt = latest > now + 48 * hour ? now + 24 * hour : latest
      const filter = createFilter(positions.keys(), positions.size)
      moveAll.run(number)
      addGeneration.run(number, sweepAt, new Uint8Array(filter.buffer))
      removeAll.run()
      unsure = true
      generations = [{ number, filter, sweepAt }, ...generations]
      positions = new Map()
      looked.clear()
    },
    /** Answers how many went: about `limit` at most, but whole generations. */
    sweep(now: number, limit: number): number {
      let swept = positions.size === 0 ? 0 : sweepNew.run(now)
      for (const generation of generations.toReversed()) {
        if (swept >= limit) break
        if (generation.sweepAt <= now) swept += sweepGeneration(generation, now)
      }
      return swept
    },

    /** The transaction was committed, or a new one begins. */
    settle: () => void (unsure = false),
    /** It was rolled back, or a part of it was: the rest may be still. */
    forget(): void {
      if (unsure) read()
    },
  }
}

/** Sixteen bytes, each a character: a text is had for a third of what a buffer costs, and can be the key of a map. */
function digestOf(key: string): string {
  return hash('sha256', key, 'binary').slice(0, 16)
}

function bytesOf(digest: string): Uint8Array {
  return Buffer.from(digest, 'latin1')
}
