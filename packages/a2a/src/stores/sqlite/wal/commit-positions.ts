/**
 * Every commit reaches a position of its own, so that the mark beside the file (mark-file.ts) can tell whether the commit is there.
 * A commit that appends to a log has the position of its last row. Any other commit is assigned one.
 */
import type { SqliteDatabase } from '../database.ts'
import type { Epoch } from '../epoch.ts'

export interface CommitPositions {
  begin(): void
  /** A part of this transaction was rolled back: positions that it assigned may be in no row. */
  abandon(): void
  /** Within the transaction, as its last step. */
  beforeCommit(): void
  afterCommit(): void
}

export function createCommitPositions(
  database: SqliteDatabase,
  epoch: Epoch,
  reached: (position: number) => void,
): CommitPositions {
  let changesBefore = 0
  let positionBefore = 0
  let wasAbandoned = false
  let isWrite = false
  return {
    begin() {
      changesBefore = database.changes
      positionBefore = epoch.position
      wasAbandoned = false
    },
    abandon: () => void (wasAbandoned = true),
    beforeCommit() {
      isWrite = database.changes !== changesBefore
      if (!isWrite || (epoch.position > positionBefore && !wasAbandoned)) return
      epoch.newPosition()
      epoch.keepPosition()
    },
    afterCommit() {
      if (isWrite) reached(epoch.position)
    },
  }
}
