/**
 * The whole store contract in memory: for tests, demos and agents whose tasks need not survive a restart. It keeps the newest
 * thousand tasks. Leases are real, so two engines over one memory store behave like two replicas.
 */
import { type CompletedLogStore, completeLogStore } from '../complete/complete-store.ts'
import { emptyErasedCounts, type ErasedCounts, type ErasureStore, sumOfCounts } from '../erasure-store.ts'
import type { FullStore } from '../store.ts'
import { encodeText } from '../text-encoding.ts'
import { createMemoryLog, type MemoryLog } from './memory-log.ts'
import { createMemoryPreview } from './preview-prune.ts'
import { memoryStats } from './stats.ts'

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
export function memoryStore({ maxTasks = 1_000, pruneBatch = 100, ...options }: MemoryStoreOptions = {}): FullStore {
  const log = createMemoryLog({ maxTasks, pruneBatch })
  const completed = completeLogStore(log.store, options)
  const { store, guarded } = completed
  return {
    ...store,
    prunesItself: true,
    feed: guarded(log.store.feed),
    kv: { ...store.kv, isOrdered: true },
    erasure: guarded(createMemoryErasure(log, completed)),
    ...guarded({
      previewPrune: createMemoryPreview(log, completed),
      stats: () => memoryStats(log, completed),
    }),
  }
}

function createMemoryErasure(
  { store: log, rows }: MemoryLog,
  { table, pushes, entries }: CompletedLogStore,
): ErasureStore {
  async function eraseTask(taskId: string): Promise<ErasedCounts | undefined> {
    const id = encodeText(taskId)
    const { state } = (await table.load(taskId)) ?? {}
    const stored = rows.get(id)
    if (state === undefined || stored === undefined) return undefined
    const pushAttempts = pushes.attempts.get(taskId)?.length ?? 0
    const { published: logBatches, snapshot } = stored
    await log.remove([id])
    table.forget(taskId)
    pushes.attempts.delete(taskId)
    const snapshots = snapshot === undefined ? 0 : 1
    return { ...emptyErasedCounts, tasks: 1, logBatches, snapshots, pushConfigs: state.pushes.length, pushAttempts }
  }

  return {
    async findOwners(suffix) {
      const owners = new Set<string>()
      for await (const { state } of table.scan({ where: {}, order: 'oldest' })) {
        if (suffix !== '' && state.row.owner.endsWith(suffix)) owners.add(state.row.owner)
      }
      return [...owners]
    },
    async erase({ taskIds = [], entries: removed = [], replacements = [] }) {
      let counts = {
        ...emptyErasedCounts,
        entries: removed.filter(({ kind, key }) => entries.discard(kind, key)).length,
        replaced: replacements.filter(({ kind, key, value }) => entries.replace(kind, key, value)).length,
      }
      for (const id of taskIds) counts = sumOfCounts(counts, await table.exclusively([id], () => eraseTask(id)))
      return counts
    },
    removeOrphans: async () => ({ messageClaims: 0, rows: 0 }),
    compact: async () => ({ isDone: true }),
  }
}
