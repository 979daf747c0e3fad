/**
 * A long migration in batches: a step only adds a column, and a process fills the rows of older versions while it serves. Each batch is
 * one short transaction that also moves a cursor, so that a process that was killed loses at most one batch, and writers wait for
 * none. Progress goes to the log of the store.
 */
import type { StoreLog } from './store-log.ts'

export interface BackfillProgress {
  /** All rows up to here have a value. */
  readonly cursor: number
  /** The last row that may need one. */
  readonly until: number
  /** Rows filled so far, by all processes. */
  readonly rows: number
}

export interface Backfill {
  /** For the log: `checksums of log`. */
  readonly name: string
  /** Where it stands. `busy`: another process does it now, or rows are not ready yet. `undefined`: nothing is left to do. */
  begin(): Promise<BackfillProgress | 'busy' | undefined>
  /** Fills some rows after the cursor; as `begin`. */
  batch(progress: BackfillProgress): Promise<BackfillProgress | 'busy' | undefined>
}

export interface BackfillDeps {
  readonly log: StoreLog
  /** Resolves after this time, or at once when the runner is stopped. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  readonly monotonicNow: () => number
}

/** Between two lines about the same backfill. */
const reportEveryMs = 10_000
/** Before a batch that failed or was `busy` is tried again. */
const retryMs = 15_000
/** A batch is followed by a pause of at least its own length: half of the time belongs to requests. */
const minPauseMs = 5

export interface BackfillRun {
  /** Resolves when nothing is left, or after `stop`. */
  readonly ended: Promise<void>
  /** Ends after the current batch. */
  stop(): Promise<void>
}

export function runBackfills(backfills: readonly Backfill[], deps: BackfillDeps): BackfillRun {
  const { log, wait, monotonicNow } = deps
  const stopping = new AbortController()
  const { signal } = stopping

  async function run(backfill: Backfill): Promise<void> {
    for (;;) {
      try {
        if (await fill(backfill)) return
      } catch (cause) {
        if (signal.aborted) return
        log.warn(`the backfill of ${backfill.name} failed and is tried again`, { cause })
      }
      await wait(retryMs, signal)
      if (signal.aborted) return
    }
  }

  /** Returns whether it is over: done, or stopped. */
  async function fill({ name, begin, batch }: Backfill): Promise<boolean> {
    let progress = await begin()
    if (progress === undefined || progress === 'busy') return progress === undefined
    const startedAt = monotonicNow()
    const { rows: rowsBefore } = progress
    let reportedAt = startedAt
    // Not while it waits for rows that are not ready yet.
    if (progress.cursor < progress.until) log.info?.(`the backfill of ${name} has begun`, shareOf(progress))
    while (!signal.aborted) {
      const from = monotonicNow()
      const next = await batch(progress)
      if (next === 'busy') return false
      if (next === undefined) {
        const seconds = Math.round((monotonicNow() - startedAt) / 1_000)
        log.info?.(`the backfill of ${name} is done`, { rows: progress.rows - rowsBefore, seconds })
        return true
      }
      progress = next
      const now = monotonicNow()
      if (now - reportedAt >= reportEveryMs) {
        reportedAt = now
        log.info?.(`the backfill of ${name} continues`, shareOf(progress))
      }
      await wait(Math.max(minPauseMs, now - from), signal)
    }
    return true
  }

  const ended = (async () => {
    for (const backfill of backfills) await run(backfill)
  })()
  return {
    ended,
    stop() {
      stopping.abort()
      return ended
    },
  }
}

function shareOf({ cursor, until, rows }: BackfillProgress) {
  return { percent: until <= 0 ? 100 : Math.min(100, Math.floor((cursor / until) * 100)), rows }
}

/** `wait` by a timer that does not keep the process alive. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    if (typeof timer === 'object') timer.unref()
    signal.addEventListener('abort', done)
  })
}
