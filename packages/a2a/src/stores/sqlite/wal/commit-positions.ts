/**
 * Every commit reaches a position of its own, so that the mark beside the file (mark-file.ts) can tell whether the commit is there.
 * A commit that appends to a log has the position of its last row. Any other commit is assigned one.
 */
import type { SqliteDatabase } from '../database.ts'
import type { Epoch } from '../epoch.ts'

export function createCommitPositions(database: SqliteDatabase, epoch: Epoch, reached: (position: number) => void) {
  let changesBefore = 0
  let positionBefore = 0
  let wasAbandoned = false
  let isWrite = false
  return {
    begin(): void {
      changesBefore = database.changes
      positionBefore = epoch.position
      wasAbandoned = false
    },
    /** A part of this transaction was rolled back: positions that it assigned may be in no row. */
    abandon: (): void => void (wasAbandoned = true),
    /** Within the transaction, as its last step. */
    beforeCommit(): void {
      isWrite = database.changes !== changesBefore
      if (!isWrite || (epoch.position > positionBefore && !wasAbandoned)) return
      epoch.newPosition()
      epoch.keepPosition()
    },
    afterCommit(): void {
      if (isWrite) reached(epoch.position)
    },
  }
}
