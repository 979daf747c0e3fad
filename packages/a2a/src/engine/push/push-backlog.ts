/**
 * The backlog of webhooks, read from the store once. A claim delivers fewer events than a page holds, so the rest of the page stays
 * here for the next claim, and for another webhook of the task at the same position. Without it, the delivery of a backlog of 395
 * records read 3,030 records from the store.
 */
import { recordBytes } from '../../model/json-nodes.ts'
import type { TaskStore } from '../../stores/store.ts'
import { type LogEvent, logEventOf } from '../task/fold.ts'
import type { LoadedTask } from '../task/loaded-task.ts'

/** Bounds of one read. */
const maxRead = 200
const maxReadBytes = 1_000_000
/** The bound of all pages that wait for their next claim. The oldest are dropped first and read again. */
const maxKeptBytes = 16_000_000

export interface BacklogPage {
  /** The visible events after the requested seq, in order. */
  readonly events: readonly LogEvent[]
  /** The seq of the last record, visible or not; `undefined` if there was none. */
  readonly lastSeq: number | undefined
}

export interface PushBacklog {
  /** The events after a seq. `undefined` if the log before them was dropped. */
  after(loaded: LoadedTask, seq: number): Promise<BacklogPage | undefined>
  /** Drops the kept page of a task. Call it when no claim follows immediately. */
  drop(taskId: string): void
}

interface KeptPage {
  /** Weak, because a task that left the cache must be freed, however long its page waits. */
  readonly loaded: WeakRef<LoadedTask>
  readonly fromSeq: number
  readonly lastSeq: number
  readonly events: readonly LogEvent[]
  readonly bytes: number
}

export function createPushBacklog(tasks: Pick<TaskStore, 'read' | 'firstSeq'>): PushBacklog {
  const pages = new Map<string, KeptPage>()
  let total = 0

  function drop(taskId: string): void {
    const page = pages.get(taskId)
    if (page === undefined) return
    pages.delete(taskId)
    total -= page.bytes
  }

  function keep(id: string, page: KeptPage): void {
    drop(id)
    pages.set(id, page)
    total += page.bytes
    for (const taskId of pages.keys()) {
      if (total <= maxKeptBytes) return
      drop(taskId)
    }
  }

  return {
    async after(loaded, seq) {
      const known = pages.get(loaded.id)
      if (known?.loaded.deref() === loaded && known.fromSeq <= seq && seq < known.lastSeq) {
        return { events: known.events.filter((event) => event.seq > seq), lastSeq: known.lastSeq }
      }
      if ((await tasks.firstSeq(loaded.id)) > seq + 1) return undefined
      const records = await tasks.read(loaded.id, seq, maxRead, maxReadBytes)
      const events: LogEvent[] = []
      let pageBytes = 0
      for (const record of records) {
        const bytes = recordBytes(record.body)
        pageBytes += bytes
        const event = logEventOf(loaded.fold, record, bytes)
        if (event !== undefined) events.push(event)
      }
      const lastSeq = records.at(-1)?.seq
      if (lastSeq !== undefined) {
        keep(loaded.id, { loaded: new WeakRef(loaded), fromSeq: seq, lastSeq, events, bytes: pageBytes })
      }
      return { events, lastSeq }
    },
    drop,
  }
}
