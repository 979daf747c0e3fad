/** The log of a store whose backfills a test waits for. */
import type { StoreLog } from '../../packages/a2a/src/stores/store-log.ts'

export interface BackfillLog {
  readonly log: StoreLog
  readonly lines: readonly string[]
  /** Resolves when the checksums of all these tables are there. */
  readonly isDone: Promise<void>
}

export function createBackfillLog(tables: readonly string[]): BackfillLog {
  const lines: string[] = []
  const left = new Set(tables)
  const done = Promise.withResolvers<void>()
  if (left.size === 0) done.resolve()
  return {
    lines,
    isDone: done.promise,
    log: {
      warn: (message, fields) => done.reject(new Error(`${message} ${String(fields?.['cause'])}`)),
      info(message) {
        lines.push(message)
        const [, table = ''] = /^the backfill of checksums of (\w+) is done$/.exec(message) ?? []
        if (left.delete(table) && left.size === 0) done.resolve()
      },
    },
  }
}
