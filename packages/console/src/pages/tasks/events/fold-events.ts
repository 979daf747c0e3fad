/** The task after any event of its log, by the fold of the engine. */
import type { Struct, Task } from '@parley/a2a'
import { emptyFold, foldRecord, taskView, type TaskFold } from '@parley/a2a/internal'
import type { RecordBody } from '@parley/a2a/stores'
import type { LogRecord } from '../../../api/admin.ts'

export interface TaskFoldStart {
  readonly id: string
  readonly contextId: string
  readonly metadata?: Struct | undefined
}

export function recordBody(record: LogRecord): RecordBody {
  return record.body as unknown as RecordBody
}

/** Caches the position: going forward folds only the new events, going back starts over. */
export function createFoldToSeq(start: TaskFoldStart): (events: readonly LogRecord[], seq: number) => Task {
  const begin = (): TaskFold => emptyFold(start.id, start.contextId, { state: 'TASK_STATE_SUBMITTED' }, start.metadata)
  let fold = begin()
  let at = 0
  return (events, seq) => {
    if (fold.head > seq) {
      fold = begin()
      at = 0
    }
    for (let record = events[at]; record !== undefined && record.seq <= seq; record = events[at]) {
      foldRecord(fold, { seq: record.seq, at: Date.parse(record.at), body: recordBody(record) })
      at += 1
    }
    return taskView(fold)
  }
}
