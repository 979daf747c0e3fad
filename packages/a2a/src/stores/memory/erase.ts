/** Erases tasks and key-value entries of the memory store. Nothing is left of them: there is no file. */
import { type ErasedCounts, type EraseOrder, type ErasureStore, emptyErasedCounts } from '../erasure-store.ts'
import type { MessageClaimTable } from './append.ts'
import type { MemoryKeyValue } from './key-value.ts'
import { removeTasks } from './prune.ts'
import type { MemoryTable, TaskEntry } from './table.ts'

export interface MemoryEraseDeps {
  readonly table: MemoryTable
  readonly claims: MessageClaimTable
  readonly entries: Pick<MemoryKeyValue, 'discard' | 'replace'>
}

export function createMemoryErase({ table, claims, entries }: MemoryEraseDeps): {
  readonly [Method in keyof ErasureStore]: (
    ...args: Parameters<ErasureStore[Method]>
  ) => Awaited<ReturnType<ErasureStore[Method]>>
} {
  return {
    findOwners(suffix) {
      const owners = new Set<string>()
      if (suffix !== '') for (const { row } of table.all()) if (row.owner.endsWith(suffix)) owners.add(row.owner)
      return [...owners]
    },
    erase({ taskIds = [], entries: removed = [], replacements = [] }: EraseOrder): ErasedCounts {
      const found = new Set(taskIds.flatMap((id) => table.get(id) ?? []))
      const count = (of: (entry: TaskEntry) => number): number => [...found].reduce((sum, entry) => sum + of(entry), 0)
      const counts = {
        ...emptyErasedCounts,
        tasks: found.size,
        logBatches: count((entry) => entry.published),
        snapshots: count(({ snapshot }) => (snapshot === undefined ? 0 : 1)),
        pushConfigs: count(({ pushes }) => pushes.size),
        pushAttempts: count(({ attempts }) => attempts.length),
        entries: removed.filter(({ kind, key }) => entries.discard(kind, key)).length,
        replaced: replacements.filter(({ kind, key, value }) => entries.replace(kind, key, value)).length,
      }
      removeTasks(table, claims, found)
      return counts
    },
    removeOrphans() {
      let messageClaims = 0
      for (const [key, { taskId }] of claims) {
        if (table.get(taskId) !== undefined) continue
        claims.delete(key)
        messageClaims += 1
      }
      return { messageClaims, rows: 0 }
    },
    compact: () => ({ isDone: true }),
  }
}
