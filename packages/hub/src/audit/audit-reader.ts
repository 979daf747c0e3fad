/**
 * Reads the audit log forward, oldest first, from a cursor: for exports that must miss nothing.
 *
 * Batches are read in the order of their keys, which contain the time of their writer. On a store of one process that is the order
 * of the commits. On a shared store it is not: a writer whose clock is late, or whose write takes long, adds a batch before one that
 * was already read. Two rules make up for it, by the clock of the store:
 *
 * 1. A batch is read when its key is 15 seconds old. What arrives until then is in order.
 * 2. Ten minutes later the keys are read again, and batches that were stored more than 15 seconds after the time in their key are
 *    returned, some of them for the second time.
 *
 * So every entry is returned at least once if its batch is stored within ten minutes of the time in its key. The writer repeats a
 * write that took longer than a minute (audit-log.ts): the clocks of the replicas must not be late by more than nine minutes.
 */
import type { KeyValueEntry, KeyValueStore } from '@parley/a2a/stores'
import { firstKeyOf, timeOfKey } from './audit-key.ts'
import { auditKind, type AuditEntry, type ListedAuditEntry } from './audit-log.ts'

export interface AuditRead {
  readonly entries: readonly ListedAuditEntry[]
  /** The cursor that continues after these entries. */
  readonly cursor: string
  /** Whether everything that may be read now was read. */
  readonly isEnd: boolean
}

export interface AuditReader {
  /** A cursor before all entries, or before those of this time. */
  start(sinceMs?: number): string
  /** About `limit` entries after the cursor; a late batch is returned whole. Throws RangeError if the cursor is not valid. */
  read(cursor: string, limit: number): Promise<AuditRead>
  /** When the oldest batch after the cursor was written, by its writer's clock; `undefined` if there is none. */
  oldestAfter(cursor: string): Promise<number | undefined>
}

export interface AuditReaderDeps {
  readonly kv: KeyValueStore
  readonly now: () => number
  /** Whether other processes write to the store. */
  readonly isShared: boolean
}

/** On a shared store, the age at which a batch is read. */
export const settleMs = 15_000
/** How late a batch may be stored and still be found. */
export const maxLateMs = 600_000
/** Batches per query: a batch has up to 500 entries. */
const pageBatches = 4
/** Batches that one call reads again. */
const maxLateBatches = 40
const clockKind = 'audit-clock'
const cursorPattern = /^([0-9a-f-]{36})\.(\d{1,6})(?:~([0-9a-f-]{36}))?$/

interface ReaderPosition {
  readonly key: string
  /** The number of entries of that batch that were read. */
  readonly count: number
  /** The key up to which batches were read again. */
  readonly late: string
}

export function isAuditCursor(text: string): boolean {
  return cursorPattern.test(text)
}

export function createAuditReader({ kv, now, isShared }: AuditReaderDeps): AuditReader {
  /** The clock of the store. Local clocks may differ. */
  async function storeNow(): Promise<number> {
    await kv.write(clockKind, { key: 'reader', value: 0, expiresAt: now() + maxLateMs })
    return (await kv.read(clockKind, 'reader'))?.updatedAt ?? now()
  }

  /** Batches after the key that may be read now, and whether more may follow. */
  async function batchesAfter(key: string, horizon: number) {
    const found = await kv.list(auditKind, { after: key, limit: pageBatches })
    const settled = found.filter((batch) => timeOfKey(batch.key) <= horizon)
    return { batches: settled, isEnd: settled.length < pageBatches }
  }

  /** Batches that were stored too late for their first reading. */
  async function readLate(from: ReaderPosition, horizon: number, entries: ListedAuditEntry[]): Promise<string> {
    let { late } = from
    const until = Math.min(horizon, timeOfKey(from.key))
    for (let searched = 0; searched < maxLateBatches;) {
      const { batches, isEnd } = await batchesAfter(late, until)
      for (const batch of batches) {
        if (batch.updatedAt - timeOfKey(batch.key) > settleMs) entries.push(...entriesOf(batch, 0))
        late = batch.key
      }
      searched += batches.length
      if (isEnd) break
    }
    return late
  }

  return {
    start: (sinceMs = 0) => formatCursor({ key: firstKeyOf(sinceMs), count: 0, late: firstKeyOf(now() - maxLateMs) }),
    async read(cursor, limit) {
      let position = parseCursor(cursor)
      const entries: ListedAuditEntry[] = []
      const time = isShared ? await storeNow() : Infinity
      if (isShared) position = { ...position, late: await readLate(position, time - maxLateMs, entries) }
      if (position.count > 0) {
        const batch = await kv.read(auditKind, position.key)
        const rest = batch === undefined ? [] : entriesOf(batch, position.count).slice(0, limit)
        entries.push(...rest)
        position = { ...position, count: position.count + rest.length }
      }
      while (entries.length < limit) {
        const { batches, isEnd } = await batchesAfter(position.key, time - settleMs)
        for (const batch of batches) {
          if (entries.length >= limit) break
          const taken = entriesOf(batch, 0).slice(0, limit - entries.length)
          entries.push(...taken)
          position = { ...position, key: batch.key, count: taken.length }
        }
        if (isEnd && entries.length < limit) return { entries, cursor: formatCursor(position), isEnd: true }
      }
      return { entries, cursor: formatCursor(position), isEnd: false }
    },
    async oldestAfter(cursor) {
      const { key, count } = parseCursor(cursor)
      const partial = count > 0 ? await kv.read(auditKind, key) : undefined
      if (partial !== undefined && entriesOf(partial, count).length > 0) return timeOfKey(key)
      const [next] = await kv.list(auditKind, { after: key, limit: 1 })
      return next === undefined ? undefined : timeOfKey(next.key)
    },
  }
}

function entriesOf({ key, value }: KeyValueEntry, from: number): readonly ListedAuditEntry[] {
  const held = value as unknown as readonly AuditEntry[]
  return held.slice(from).map((entry, index) => ({ ...entry, id: `${key}.${from + index}` }))
}

function parseCursor(cursor: string): ReaderPosition {
  const [, key, count, late] = cursorPattern.exec(cursor) ?? []
  if (key === undefined) throw new RangeError('The cursor of the audit is not valid')
  return { key, count: Number(count), late: late ?? key }
}

function formatCursor({ key, count, late }: ReaderPosition): string {
  return `${key}.${count}~${late}`
}
