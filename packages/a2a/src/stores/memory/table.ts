/** The tasks of a memory store and the indexes and counts that are kept beside them. */
import { isTerminal } from '../../model/state.ts'
import type { LogRecord } from '../../model/record.ts'
import type { TaskState } from '../../model/state.ts'
import type { Lease } from '../decide.ts'
import type { FeedEntry, Partition, PushAttempt, PushRow, Snapshot, StateCount, TaskRow } from '../store.ts'

export interface Entry {
  /** Replaced, never changed: readers may keep it. */
  row: TaskRow
  visibleSeq: number
  lease: Lease | undefined
  /** Of the last record, also when it was pruned. */
  lastAt: number
  readonly log: LogRecord[]
  /** Of the first record in `log`. */
  firstSeq: number
  snapshot: Snapshot | undefined
  readonly pushes: Map<string, PushEntry>
  readonly attempts: PushAttempt[]
  /** How many entries of the feed are about this task. */
  published: number
  /** The messages that were claimed for this task; they are forgotten with it. */
  readonly keys: string[]
}

export interface PushEntry {
  row: PushRow
  fence: number
  /** Among all webhooks: greater than that of all that were made before. */
  readonly place: number
  /** Set while somebody delivers. */
  leasedUntil: number | undefined
}

interface Group {
  readonly entries: Set<Entry>
  readonly counts: Map<TaskState, number>
}

export type Table = ReturnType<typeof createTable>

export function createTable() {
  const byId = new Map<string, Entry>()
  const groups = new Map<string, Group>()
  const contexts = new Map<string, Set<Entry>>()
  const activeOf = new Map<string, number>()
  /** Those a lease or a due time may hang on, so that sweeps look at these alone. */
  const unfinished = new Set<Entry>()
  const finished = new Set<Entry>()
  /** Those that may have a push cursor to be moved. */
  const pushed = new Set<Entry>()
  let feed: FeedEntry[] = []
  /** Entries of tasks that are gone: skipped when read, and swept out when they are the greater part. */
  let stale = 0
  let position = 0

  function count({ tenant, owner }: Partition, group: Group, state: TaskState, by: 1 | -1): void {
    group.counts.set(state, (group.counts.get(state) ?? 0) + by)
    if (isTerminal(state)) return
    const key = keyOf(tenant, owner)
    const active = (activeOf.get(key) ?? 0) + by
    if (active === 0) activeOf.delete(key)
    else activeOf.set(key, active)
  }

  function groupOf(row: Partition): Group {
    const key = keyOf(row.tenant, row.owner, row.agent)
    const found = groups.get(key)
    if (found !== undefined) return found
    const group: Group = { entries: new Set(), counts: new Map() }
    groups.set(key, group)
    return group
  }

  function isPublished({ taskId, firstSeq }: FeedEntry): boolean {
    return (byId.get(taskId)?.firstSeq ?? Infinity) <= firstSeq
  }

  /** A log that was dropped is no longer news either. */
  function unpublish(entry: Entry): void {
    stale += entry.published
    entry.published = 0
    if (stale * 2 <= feed.length) return
    feed = feed.filter(isPublished)
    stale = 0
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
    inContext: (contextId: string): Iterable<Entry> => contexts.get(contextId) ?? [],
    active: (tenant: string, owner: string): number => activeOf.get(keyOf(tenant, owner)) ?? 0,
    states(): readonly StateCount[] {
      const sums = new Map<TaskState, number>()
      for (const { counts } of groups.values())
        for (const [state, tasks] of counts) sums.set(state, (sums.get(state) ?? 0) + tasks)
      return [...sums].flatMap(([state, tasks]) => (tasks > 0 ? [{ state, tasks }] : []))
    },

    add(entry: Entry): void {
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

    /** Puts a new row in the place of the old one. */
    replace(entry: Entry, row: TaskRow): void {
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

    /** Only finished ones ever go. */
    remove(entries: ReadonlySet<Entry>): void {
      for (const entry of entries) {
        const { row } = entry
        const group = groupOf(row)
        byId.delete(row.id)
        finished.delete(entry)
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

    publish(entry: Entry, firstSeq: number, lastSeq: number): void {
      const { tenant, agent, owner, id } = entry.row
      position += 1
      entry.published += 1
      feed.push({ position, tenant, agent, owner, taskId: id, firstSeq, lastSeq })
    },
    unpublish,
    feedEnd: (): number => position,
    feedAfter(after: number, limit: number): readonly FeedEntry[] {
      const found: FeedEntry[] = []
      for (let index = firstIndexAfter(feed, after); index < feed.length && found.length < limit; index += 1) {
        const item = feed[index] as FeedEntry
        if (isPublished(item)) found.push(item)
      }
      return found
    },
  }
}

/** Quoted, so that two different lists of names never give one key. */
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
