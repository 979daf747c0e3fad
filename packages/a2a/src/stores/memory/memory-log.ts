/** A log store in memory, with snapshots and a feed. It removes the oldest closed rows itself. */
import type { LogRecord } from '../../model/record.ts'
import type { LogPage, LogQuery, LogRow, LogStore } from '../log-store.ts'
import type { FeedEntry, FeedStore } from '../store.ts'
import type { Snapshot } from '../task-store.ts'
import { decodeText, encodeText } from '../text-encoding.ts'

export interface MemoryRow {
  row: LogRow
  /** Without the records that were dropped. */
  log: LogRecord[]
  snapshot: Snapshot | undefined
  /** The messages claimed for this task; they are removed with it. */
  readonly messageKeys: string[]
  /** The number of its feed entries. */
  published: number
}

export interface MemoryLogOptions {
  /** Above this number of rows the oldest closed ones are removed. */
  readonly maxTasks: number
  /** How many are removed at a time. */
  readonly pruneBatch: number
}

export type MemoryLog = ReturnType<typeof createMemoryLog>

/** Every method does its work before it returns: nothing can interleave. */
export function createMemoryLog({ maxTasks, pruneBatch }: MemoryLogOptions) {
  const rows = new Map<string, MemoryRow>()
  const messages = new Map<string, string>()
  let feed: FeedEntry[] = []
  /** Entries of removed logs: skipped by reads, and removed when they are the majority. */
  let stale = 0
  let position = 0

  function unpublish(stored: MemoryRow): void {
    stale += stored.published
    stored.published = 0
    if (stale * 2 <= feed.length) return
    feed = feed.filter(isPublished)
    stale = 0
  }

  function isPublished({ taskId, firstSeq }: FeedEntry): boolean {
    return (rows.get(encodeText(taskId))?.log[0]?.seq ?? Infinity) <= firstSeq
  }

  function publish(stored: MemoryRow, records: readonly LogRecord[]): void {
    const [first, last] = [records[0], records.at(-1)]
    if (first === undefined || last === undefined) return
    const { id, tenant, agent, owner } = stored.row
    position += 1
    stored.published += 1
    const names = { tenant: decodeText(tenant), agent: decodeText(agent), owner: decodeText(owner) }
    feed.push({ position, ...names, taskId: decodeText(id), firstSeq: first.seq, lastSeq: last.seq })
  }

  function removeAll(ids: readonly string[]): void {
    for (const id of ids) {
      const stored = rows.get(id)
      if (stored === undefined) continue
      rows.delete(id)
      for (const key of stored.messageKeys) if (messages.get(key) === id) messages.delete(key)
      unpublish(stored)
    }
  }

  function list({ where, since = -Infinity, order, after, limit }: LogQuery): LogPage {
    const columns = Object.entries(where)
    const matching: LogRow[] = []
    for (const { row } of rows.values()) {
      if (row.statusAt >= since && columns.every(([column, value]) => row[column as keyof LogRow] === value))
        matching.push(row)
    }
    if (limit === 0) return { rows: [], total: matching.length }
    const inOrder = order === 'newest' ? (a: Position, b: Position) => oldestFirst(b, a) : oldestFirst
    const rest = after === undefined ? [...matching] : matching.filter((row) => inOrder(after, row) < 0)
    return { rows: rest.sort(inOrder).slice(0, limit), total: matching.length }
  }

  const store = {
    async append({ row, records, messageKey }) {
      const stored = rows.get(row.id)
      if ((stored?.row.version ?? 0) !== row.version - 1) return false
      const kept = stored ?? { row, log: [], snapshot: undefined, messageKeys: [], published: 0 }
      kept.row = row
      for (const record of records) kept.log.push(record)
      if (messageKey !== undefined) {
        messages.set(messageKey, row.id)
        kept.messageKeys.push(messageKey)
      }
      publish(kept, records)
      if (stored !== undefined) return true
      rows.set(row.id, kept)
      if (rows.size > maxTasks)
        removeAll(list({ where: { isOpen: false }, order: 'oldest', limit: pruneBatch }).rows.map(({ id }) => id))
      return true
    },
    load: async (taskId) => rows.get(taskId)?.row,
    async read(taskId, afterSeq, limit) {
      const { log = [] } = rows.get(taskId) ?? {}
      const from = Math.max(0, afterSeq + 1 - (log[0]?.seq ?? 0))
      return log.slice(from, from + limit)
    },
    list: async (query) => list(query),
    findMessage: async (messageKey) => messages.get(messageKey),
    remove: async (taskIds) => removeAll(taskIds),
    snapshots: {
      async save(taskId, snapshot) {
        const stored = rows.get(taskId)
        if (stored !== undefined) stored.snapshot = snapshot
      },
      load: async (taskId) => rows.get(taskId)?.snapshot,
      async dropLog(taskId) {
        const stored = rows.get(taskId)
        if (stored === undefined || stored.log.length === 0) return false
        stored.log = []
        unpublish(stored)
        return true
      },
    },
    feed: {
      read: async (after, limit) => feedAfter(after, limit),
      end: async () => position,
    } satisfies FeedStore,
  } satisfies LogStore

  function feedAfter(after: number, limit: number): readonly FeedEntry[] {
    const found: FeedEntry[] = []
    for (let index = firstIndexAfter(feed, after); index < feed.length && found.length < limit; index += 1) {
      const entry = feed[index] as FeedEntry
      if (isPublished(entry)) found.push(withRecords(entry))
    }
    return found
  }

  function withRecords(entry: FeedEntry): FeedEntry {
    const { log } = rows.get(encodeText(entry.taskId)) as MemoryRow
    const from = entry.firstSeq - (log[0]?.seq ?? 0)
    return { ...entry, records: log.slice(from, from + 1 + entry.lastSeq - entry.firstSeq) }
  }

  return { store, rows }
}

type Position = Pick<LogRow, 'statusAt' | 'id'>

function oldestFirst(a: Position, b: Position): number {
  return a.statusAt - b.statusAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
}

function firstIndexAfter(feed: readonly FeedEntry[], position: number): number {
  let low = 0
  let high = feed.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((feed[middle] as FeedEntry).position <= position) low = middle + 1
    else high = middle
  }
  return low
}
