/** When the fold of a task is stored beside its log. */
import { isTerminal } from '../../model/state.ts'
import type { TaskFold } from './fold.ts'

/** As `recordBytes` counts, which is 244 for a chunk of 24 characters. At 2 MB a stream of 16,000 such chunks stored 8 % more. */
const snapshotEveryBytes = 4_000_000
/** Below this size, folding the log is as cheap as reading a snapshot, and a write is saved. */
const snapshotFromBytes = 64_000
/**
 * Above this size, a task of large records is read from its log only: it has hardly more bytes than a snapshot, in pieces that neither
 * the store nor a reader need handle at once.
 */
const maxSnapshotBytes = 4_000_000
const largeRecordBytes = 2_000

/** Of one task in use. */
export class SnapshotSchedule {
  #savedBytes = 0

  /** Whether the state after an append is to be stored now. If so, the caller stores it. `all`: of a finished task, however short. */
  isDue({ bytes, head, status }: Pick<TaskFold, 'bytes' | 'head' | 'status'>, all: boolean): boolean {
    if (!all && bytes > maxSnapshotBytes && bytes / head > largeRecordBytes) return false
    // Again only when the log has doubled: with a snapshot every 2 MB, 75 MB in 300 events took SQLite 21 s; this way it takes 2 s.
    const fromBytes = all ? 0 : snapshotFromBytes
    const enough = isTerminal(status.state) ? fromBytes : Math.max(snapshotEveryBytes, this.#savedBytes)
    if (bytes - this.#savedBytes < enough) return false
    this.#savedBytes = bytes
    return true
  }
}
