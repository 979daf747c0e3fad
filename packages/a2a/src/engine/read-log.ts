/** Reading a log to its end, a bounded page at a time: a log may be larger than what fits in memory at once. */
import { recordsBytes } from '../model/json-bytes.ts'
import type { LogRecord } from '../model/record.ts'
import type { Store } from '../stores/store.ts'

/** How much one read brings when a log is folded. */
const foldBytes = 1_000_000

/** Calls `take` with each page after a seq, in order. */
export async function readLog(
  store: Pick<Store, 'read'>,
  taskId: string,
  afterSeq: number,
  take: (records: readonly LogRecord[]) => void,
): Promise<void> {
  let after = afterSeq
  for (;;) {
    const records = await store.read(taskId, after, undefined, foldBytes)
    const last = records.at(-1)
    take(records)
    // The bound ended the read only if it was reached.
    if (last === undefined || recordsBytes(records) < foldBytes) return
    after = last.seq
  }
}
