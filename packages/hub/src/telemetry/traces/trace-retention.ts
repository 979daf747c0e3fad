/** Deletes entries of tasks that were pruned early because there were too many: the oldest tasks are pruned first. */
import type { KeyValueStore, Store } from '@parley/a2a'
import { traceEntryKeys, traceEntryFrom, traceIndexKind, type TraceIndexEntry } from './trace-summary.ts'

const pageSize = 100

/** Continues while pruned tasks are among the oldest. Returns the number of deleted entries. */
export async function dropOrphanedEntries(notes: KeyValueStore, store: Pick<Store, 'tasks'>): Promise<number> {
  let dropped = 0
  for (const prefix of ['root/', 'child/']) {
    for (;;) {
      const oldest = await notes.list(traceIndexKind, { prefix, limit: pageSize })
      let orphaned = 0
      for (const note of oldest) {
        const taskId = note.key.slice(prefix.length)
        if ((await store.tasks.load(taskId)) !== undefined) continue
        orphaned += 1
        await removeTraceEntry(notes, taskId, traceEntryFrom(note))
      }
      dropped += orphaned
      if (orphaned < pageSize) break
    }
  }
  return dropped
}

export async function removeTraceEntry(
  notes: KeyValueStore,
  taskId: string,
  note: TraceIndexEntry | undefined,
): Promise<void> {
  for (const key of note === undefined ? [] : traceEntryKeys(taskId, note)) await notes.remove(traceIndexKind, key)
}
