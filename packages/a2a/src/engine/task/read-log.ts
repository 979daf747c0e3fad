/** Reads a log to its end in bounded pages: a log may be larger than memory allows at once. */
import type { NextStep } from '../../model/heavy-step.ts'
import { recordsBytes } from '../../model/json-nodes.ts'
import type { LogRecord } from '../../model/record.ts'
import type { TaskStore } from '../../stores/store.ts'

/** Bound of one read when a log is folded. */
const foldBytes = 1_000_000

/** Calls `take` with each page after a seq, in order. Reads to the end of the log, or at least to `head` if it is given. */
export async function readLog(
  tasks: Pick<TaskStore, 'read'>,
  taskId: string,
  afterSeq: number,
  take: (records: readonly LogRecord[]) => void,
  head = Infinity,
  nextStep?: NextStep,
): Promise<void> {
  let after = afterSeq
  for (;;) {
    const records = await tasks.read(taskId, after, undefined, foldBytes, nextStep)
    const last = records.at(-1)
    take(records)
    // Fewer bytes than the bound: the read reached the end of the log.
    if (last === undefined || last.seq >= head || recordsBytes(records) < foldBytes) return
    after = last.seq
    await nextStep?.()
  }
}
