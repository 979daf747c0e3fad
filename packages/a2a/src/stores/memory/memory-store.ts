/**
 * The whole store contract in memory: for tests, demos and agents whose tasks need not survive a restart. It keeps the newest
 * thousand tasks. Leases are real, so two engines over one memory store behave like two replicas.
 */
import { recordBytes } from '../../model/json-nodes.ts'
import type { LogRecord } from '../../model/record.ts'
import { appendToMemory, findClaim, type MessageClaimTable } from './append.ts'
import {
  agentsWithTasks,
  countUnfinished,
  listMemoryTasks,
  oldestFirst,
  searchPushes,
  searchTasks,
  tasksOfContext,
  tasksWithIdPrefix,
} from './list.ts'
import { createMemoryKeyValue } from './key-value.ts'
import { createMemoryErase } from './erase.ts'
import { estimateOf, previewPrune, prune, removeOldest } from './prune.ts'
import { attemptsOf, claimPush, movePush, recordAttempt, savePush } from './push-cursors.ts'
import { memoryStats } from './stats.ts'
import { createMemoryTable, type TaskEntry } from './table.ts'
import { clockOf, createStepCorrection } from '../../model/clock.ts'
import { isLeaseActive } from '../decide-append.ts'
import { dueAgainMs } from '../task-store.ts'
import type { DueTime, FullStore, KeyRow, LeasedTask, TaskRow } from '../store.ts'
import { createChangeWaiters } from '../change-waiters.ts'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** Above this number the oldest finished tasks are removed. Active ones never are, so there may be more. Default 1,000. */
  readonly maxTasks?: number
  /** How many tasks are removed at a time. Default 100. */
  readonly pruneBatch?: number
  /** Default `Infinity`, for one engine. Set a time to let several engines share the store and take over from each other. */
  readonly leaseTtlMs?: number
  /** The wall clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number
  /** The monotonic clock, in milliseconds. Default: the system's, or `now` if given. */
  readonly monotonicNow?: () => number
}

/**
 * Creates a store in memory: for tests, demos and agents whose tasks need not survive a restart.
 *
 * It keeps the newest 1,000 tasks by default and removes older finished ones itself.
 *
 * @example
 * ```ts
 * import { memoryStore } from '@parley/a2a'
 * import { serve } from '@parley/a2a/node'
 *
 * await serve({ name: 'Echo', agent: ({ text }) => text, store: memoryStore() })
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): FullStore {
  const { maxTasks = 1_000, pruneBatch = 100, leaseTtlMs = Infinity } = options
  const { now, monotonicNow } = clockOf(options)
  const steady = createStepCorrection({ now, monotonicNow })
  const table = createMemoryTable()
  const claims: MessageClaimTable = new Map()
  const keys = new Map<string, KeyRow>()
  const entries = createMemoryKeyValue(now)
  const { kv, forgetExpired } = entries
  const waiters = createChangeWaiters()
  let closed = false
  let fence = 0
  const newFence = (): number => (fence += 1)
  const deps = { table, claims, now, steady, newFence }
  const erasure = createMemoryErase({ table, claims, entries })

  async function use<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    if (closed) throw new Error('The store is closed')
    return work()
  }
  /** The next attempt is a delay: it is stored in steady time. */
  const steadyPush = <Given extends { readonly dueAt?: number | null }>(given: Given): Given =>
    typeof given.dueAt === 'number' ? { ...given, dueAt: steady(given.dueAt) } : given
  const pushOf = (taskId: string, id: string) => table.get(taskId)?.pushes.get(id)

  return {
    leaseTtlMs,
    prunesItself: true,
    tasks: {
      append: (taskId, append) =>
        use(() => {
          const answer = appendToMemory(deps, taskId, append)
          if (answer.outcome !== 'appended') return answer
          if (append.create !== undefined && table.size > maxTasks) removeOldest(table, claims, pruneBatch)
          if (append.records.length > 0) waiters.wake(taskId)
          return answer
        }),
      load: (taskId) => use(() => table.get(taskId)?.row),
      read: (taskId, afterSeq, limit = Infinity, maxBytes = Infinity) =>
        use(() => {
          const entry = table.get(taskId)
          if (entry === undefined) return []
          const from = Math.max(0, afterSeq + 1 - entry.firstSeq)
          return upToBytes(entry.log.slice(from, from + limit), maxBytes)
        }),
      firstSeq: (taskId) => use(() => table.get(taskId)?.firstSeq ?? 1),
      changed: (taskId, afterSeq, signal) =>
        use(async () => {
          if ((table.get(taskId)?.row.head ?? 0) <= afterSeq) await waiters.wait(taskId, signal)
        }),
      list: (query) => use(() => listMemoryTasks(table, query)),
      context: (partition, contextId, limit) => use(() => tasksOfContext(table, partition, contextId, limit)),
      countActive: (tenant, owner) => use(() => table.active(tenant, owner)),
      countStates: () => use(() => table.states()),
      countUnfinished: (ownerPrefix) => use(() => countUnfinished(table.unfinished, ownerPrefix)),
      search: (query) => use(() => searchTasks(table, query)),
      agents: () => use(() => agentsWithTasks(table)),
      findTasks: (idPrefix, limit) => use(() => tasksWithIdPrefix(table, idPrefix, limit)),
      findMessage: (key, at) =>
        use(() => {
          const claim = findClaim(deps, key, steady(at))
          return claim && { taskId: claim.taskId, hash: claim.hash }
        }),
      saveSnapshot: (taskId, snapshot) =>
        use(() => {
          const entry = table.get(taskId)
          if (entry !== undefined && snapshot.seq >= (entry.snapshot?.seq ?? 0)) entry.snapshot = snapshot
        }),
      loadSnapshot: (taskId) => use(() => table.get(taskId)?.snapshot),
      claimOrphans: (holder, at, ttlMs, limit) =>
        use(() => {
          const orphans = [...table.unfinished].filter((entry) => isOrphan(entry, at))
          orphans.sort((a, b) => oldestFirst(a.row, b.row))
          return orphans.slice(0, limit).map((entry): LeasedTask => {
            entry.lease = { holder, until: at + ttlMs, fence: newFence() }
            const { due } = entry.row
            if (due?.kind === 'turn')
              entry.row = { ...entry.row, due: { ...due, at: Math.max(due.at, at + dueAgainMs) } }
            return { task: entry.row, fence: entry.lease.fence }
          })
        }),
      renew: (holder, taskIds, until, fences) =>
        use(() => {
          const at = now()
          return taskIds.filter((taskId, index) => {
            const entry = table.get(taskId)
            const lease = entry?.lease
            if (entry === undefined || lease?.holder !== holder || !isLeaseActive(lease, at)) return true
            if (fences !== undefined && lease.fence !== fences[index]) return true
            entry.lease = { ...lease, until }
            return false
          })
        }),
      claimDue: (at, limit) => use(() => dueTasks(table.unfinished, at).slice(0, limit).map(postponeDue(at))),
    },
    push: {
      save: (push) => use(() => savePush(table, steadyPush(push), newFence(), steady(push.createdAt))),
      load: (taskId, id) => use(() => pushOf(taskId, id)?.row),
      list: (taskId) => use(() => [...(table.get(taskId)?.pushes.values() ?? [])].map(({ row }) => row)),
      search: (query) => use(() => searchPushes(table, query)),
      delete: (taskId, id, given) =>
        use(() => {
          const push = pushOf(taskId, id)
          if (given !== undefined && (push?.fence !== given || push.leasedUntil === undefined)) return false
          return table.get(taskId)?.pushes.delete(id) ?? false
        }),
      claim: (at, until, limit) => use(() => claimPush(table, steady(at), steady(until), limit, newFence)),
      move: (taskId, id, given, change) =>
        use(() => {
          const push = pushOf(taskId, id)
          if (push === undefined || push.fence !== given || push.leasedUntil === undefined) return false
          movePush(table.get(taskId) as TaskEntry, push, steadyPush(change))
          return true
        }),
      recordAttempt: (attempt) =>
        use(() => {
          const entry = table.get(attempt.taskId)
          if (entry !== undefined) recordAttempt(entry, attempt)
        }),
      listAttempts: (taskId, pushId, limit) =>
        use(() => {
          const entry = table.get(taskId)
          return entry === undefined ? [] : attemptsOf(entry, pushId, limit)
        }),
    },
    keys: {
      list: () => use(() => [...keys.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))),
      save: (key) =>
        use(() => {
          if (!keys.has(key.id)) keys.set(key.id, key)
        }),
      delete: (id) => use(() => void keys.delete(id)),
      replace: (changes) =>
        use(() => {
          if (!changes.every(({ id, from }) => keys.get(id)?.material === from)) return false
          for (const { id, to } of changes) keys.set(id, { ...(keys.get(id) as KeyRow), material: to })
          return true
        }),
    },
    feed: {
      read: (position, limit) => use(() => table.feedAfter(position, limit)),
      end: () => use(() => table.feedEnd()),
      takeRecent: table.recentAfter,
    },
    kv: {
      isOrdered: true,
      read: (kind, key) => use(() => kv.read(kind, key)),
      write: (kind, entry, version) => use(() => kv.write(kind, entry, version)),
      writeAll: (kind, given) => use(() => kv.writeAll(kind, given)),
      remove: (kind, key) => use(() => kv.remove(kind, key)),
      list: (kind, query) => use(() => kv.list(kind, query)),
      add: (kind, key, by, expiresAt) => use(() => kv.add(kind, key, by, expiresAt)),
    },
    prune: (retention) =>
      use(() => {
        forgetExpired()
        return prune(table, claims, retention, steady(now()))
      }),
    previewPrune: (retention) =>
      use(() => [
        ...previewPrune(table, claims, retention, steady(now())),
        ...entries.expired().flatMap(([kind, expired]) =>
          estimateOf(
            { kind: 'entries', entryKind: kind },
            expired,
            expired.map(({ updatedAt }) => updatedAt),
          ),
        ),
      ]),
    erasure: {
      findOwners: (suffix) => use(() => erasure.findOwners(suffix)),
      erase: (order) => use(() => erasure.erase(order)),
      removeOrphans: () => use(() => erasure.removeOrphans()),
      compact: () => use(() => erasure.compact()),
    },
    stats: () => use(() => memoryStats(table, steady(now()))),
    close: async () => {
      closed = true
      waiters.wakeAll()
    },
  }
}

function upToBytes(records: readonly LogRecord[], maxBytes: number): readonly LogRecord[] {
  if (maxBytes === Infinity) return records
  let bytes = 0
  const end = records.findIndex(({ body }) => (bytes += recordBytes(body)) >= maxBytes)
  return end < 0 ? records : records.slice(0, end + 1)
}

type DueEntry = TaskEntry & { row: TaskRow & { readonly due: DueTime } }

function dueTasks(entries: Iterable<TaskEntry>, now: number): DueEntry[] {
  const due = [...entries].filter(
    (entry): entry is DueEntry =>
      entry.row.due !== undefined &&
      entry.row.due.at <= now &&
      !(entry.row.due.kind === 'turn' && isOrphan(entry, now)),
  )
  return due.sort((a, b) => a.row.due.at - b.row.due.at || (a.row.id < b.row.id ? -1 : 1))
}

function isOrphan({ lease }: TaskEntry, now: number): boolean {
  return lease !== undefined && !isLeaseActive(lease, now)
}

function postponeDue(now: number): (entry: DueEntry) => { task: TaskRow; due: DueTime } {
  return (entry) => {
    const { due } = entry.row
    entry.row = { ...entry.row, due: { ...due, at: now + dueAgainMs } }
    return { task: entry.row, due }
  }
}
