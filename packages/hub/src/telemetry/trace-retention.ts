/** Notes of tasks that have gone before their time, because there were too many: the oldest tasks go first, and their notes. */
import type { Notes, Store } from '@parley/a2a'
import { keysOf, noteIn, traceKind } from './trace-note.ts'
import type { TraceNote } from './trace-note.ts'

const pageNotes = 100

/** As long as there are gone ones among the oldest. Answers how many there were. */
export async function dropGone(notes: Notes, store: Pick<Store, 'load'>): Promise<number> {
  let dropped = 0
  for (const prefix of ['root/', 'child/']) {
    for (;;) {
      const oldest = await notes.list(traceKind, { prefix, limit: pageNotes })
      let gone = 0
      for (const note of oldest) {
        const taskId = note.key.slice(prefix.length)
        if ((await store.load(taskId)) !== undefined) continue
        gone += 1
        await forget(notes, taskId, noteIn(note))
      }
      dropped += gone
      if (gone < pageNotes) break
    }
  }
  return dropped
}

export async function forget(notes: Notes, taskId: string, note: TraceNote | undefined): Promise<void> {
  for (const key of note === undefined ? [] : keysOf(taskId, note)) await notes.remove(traceKind, key)
}
