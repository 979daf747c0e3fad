/** The tasks of a memory store, with their indexes and counts. */
import { isTerminal, type TaskState } from '../../model/state.ts'
import type { LogRecord } from '../../model/record.ts'
import type { Lease } from '../decide-append.ts'
import type { FeedEntry, Partition, PushAttempt, PushRow, Snapshot, StateCount, TaskRow } from '../store.ts'

export interface TaskEntry {
  /** Replaced, never mutated: readers may keep it. */
  row: TaskRow
  visibleSeq: number
  lease: Lease | undefined
  /** The time of the last record, also if it was pruned. */
  lastAt: number
  readonly log: LogRecord[]
  /** The seq of the first record in `log`. */
  firstSeq: number
  snapshot: Snapshot | undefined
  readonly pushes: Map<string, PushEntry>
  readonly attempts: PushAttempt[]
  /** The number of feed entries of this task. */
  published: number
  /** The messages claimed for this task; they are removed with it. */
  readonly keys: string[]
}

export interface PushEntry {
  row: PushRow
  fence: number
  /** The position among all push notification configs: greater than that of all earlier ones. */
  readonly place: number
  /** Set while a process delivers. */
  leasedUntil: number | undefined
}

interface PartitionGroup {
  readonly entries: Set<TaskEntry>
  readonly counts: Map<TaskState, number>
}

export type MemoryTable = ReturnType<typeof createMemoryTable>

export function createMemoryTable() {
  const byId = new Map<string, TaskEntry>()
  const groups = new Map<string, PartitionGroup>()
  const contexts = new Map<string, Set<TaskEntry>>()
  const activeOf = new Map<string, number>()
  /** Tasks that may have a lease or a due time, so that sweeps scan only these. */
  const unfinished = new Set<TaskEntry>()
  const finished = new Set<TaskEntry>()
  /** Tasks that may have a push cursor to advance. */
  const pushed = new Set<TaskEntry>()
  let feed: FeedEntry[] = []
  /** Entries of removed tasks: skipped by reads, and removed when they are the majority. */
  let stale = 0
  let position = 0

  function count({ tenant, owner }: Partition, group: PartitionGroup, state: TaskState, by: 1 | -1): void {
    group.counts.set(state, (group.counts.get(state) ?? 0) + by)
    if (isTerminal(state)) return
    const key = keyOf(tenant, owner)
    const active = (activeOf.get(key) ?? 0) + by
    if (active === 0) activeOf.delete(key)
    else activeOf.set(key, active)
  }

  function groupOf(row: Partition): PartitionGroup {
    const key = keyOf(row.tenant, row.owner, row.agent)
    const found = groups.get(key)
    if (found !== undefined) return found
    const group: PartitionGroup = { entries: new Set(), counts: new Map() }
    groups.set(key, group)
    return group
  }

  function isPublished({ taskId, firstSeq }: FeedEntry): boolean {
    return (byId.get(taskId)?.firstSeq ?? Infinity) <= firstSeq
  }

  /** A dropped log leaves the feed, too. */
  function unpublish(entry: TaskEntry): void {
    stale += entry.published
    entry.published = 0
    if (stale * 2 <= feed.length) return
    feed = feed.filter(isPublished)
    stale = 0
  }

  function feedAfter(after: number, limit: number): readonly FeedEntry[] {
    const found: FeedEntry[] = []
    for (let index = firstIndexAfter(feed, after); index < feed.length && found.length < limit; index += 1) {
      const item = feed[index] as FeedEntry
      if (isPublished(item)) found.push(item)
    }
    return found
  }

  function withRecords(item: FeedEntry): FeedEntry {
    const { log, firstSeq } = byId.get(item.taskId) as TaskEntry
    return { ...item, records: log.slice(item.firstSeq - firstSeq, item.lastSeq - firstSeq + 1) }
  }

  return {
    unfinished,
    finished,
    pushed,
    get size(): number {
      return byId.size
    },
    get: (taskId: string) => byId.get(taskId),
    all: () => byId.values(),
    group: (partition: Partition) => groups.get(keyOf(partition.tenant, partition.owner, partition.agent)),
    inContext: (contextId: string): Iterable<TaskEntry> => contexts.get(contextId) ?? [],
    active: (tenant: string, owner: string): number => activeOf.get(keyOf(tenant, owner)) ?? 0,
    states(): readonly StateCount[] {
      const sums = new Map<TaskState, number>()
      for (const { counts } of groups.values())
        for (const [state, tasks] of counts) sums.set(state, (sums.get(state) ?? 0) + tasks)
      return [...sums].flatMap(([state, tasks]) => (tasks > 0 ? [{ state, tasks }] : []))
    },

    add(entry: TaskEntry): void {
      const { row } = entry
      const group = groupOf(row)
      byId.set(row.id, entry)
      group.entries.add(entry)
      const context = contexts.get(row.contextId)
      if (context === undefined) contexts.set(row.contextId, new Set([entry]))
      else context.add(entry)
      count(row, group, row.status.state, 1)
      if (isTerminal(row.status.state)) finished.add(entry)
      else unfinished.add(entry)
    },

    /** Replaces a row. */
    replace(entry: TaskEntry, row: TaskRow): void {
      const from = entry.row.status.state
      const to = row.status.state
      entry.row = row
      if (from === to) return
      const group = groupOf(row)
      count(row, group, from, -1)
      count(row, group, to, 1)
      const [left, entered] = isTerminal(to) ? [unfinished, finished] : [finished, unfinished]
      left.delete(entry)
      entered.add(entry)
    },

    remove(entries: ReadonlySet<TaskEntry>): void {
      for (const entry of entries) {
        const { row } = entry
        const group = groupOf(row)
        byId.delete(row.id)
        finished.delete(entry)
        unfinished.delete(entry)
        pushed.delete(entry)
        group.entries.delete(entry)
        count(row, group, row.status.state, -1)
        if (group.entries.size === 0) groups.delete(keyOf(row.tenant, row.owner, row.agent))
        const context = contexts.get(row.contextId)
        context?.delete(entry)
        if (context?.size === 0) contexts.delete(row.contextId)
        unpublish(entry)
      }
    },

    publish(entry: TaskEntry, firstSeq: number, lastSeq: number): void {
      const { tenant, agent, owner, id } = entry.row
      position += 1
      entry.published += 1
      feed.push({ position, tenant, agent, owner, taskId: id, firstSeq, lastSeq })
    },
    unpublish,
    feedEnd: (): number => position,
    feedAfter,
    /** With the records. */
    recentAfter: (after: number, limit: number): readonly FeedEntry[] => feedAfter(after, limit).map(withRecords),
  }
}

/** Quoted, so that two different lists of names never produce the same key. */
function keyOf(...names: readonly string[]): string {
  return JSON.stringify(names)
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
