/**
 * Group commit: all writes of one turn of the event loop, or of a few while more arrive, share one transaction, and resolve when it
 * is on disk. A commit costs the same for one append as for thirty. Each job is decided separately; a failed job does not fail the
 * others.
 *
 * Only the sync runs in a separate thread (wal/wal-sync.ts). With all of the writing there, on two cores, which the thread shares with
 * callers, short tasks ran at 0.83 of the rate and took 60 µs more CPU each. Checkpoints in a thread gained nothing either.
 */
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import type { SqliteDatabase } from './database.ts'

export interface SqliteWriterDeps {
  /** Runs at the beginning of every transaction and may refuse it. */
  begin(): void
  /** Writes what the jobs have collected for the end of a transaction. */
  finish(): void
  /** Discards what was collected. */
  rollback(): void
  /** The last step before a commit. */
  beforeCommit(): void
  /** The transaction is committed, and visible to reads. Must not throw. */
  afterCommit(): void
  /** Calls back when all that was committed is on disk, or could not be written there. Default: at once. */
  whenDurable?(callback: (failure?: Error) => void): void
  /** Called with the error of every failed job. */
  failed?(error: unknown): void
}

interface WriteJob {
  readonly work: () => unknown
  readonly onCommit: ((result: never) => void) | undefined
  readonly resolve: (result: never) => void
  readonly reject: (reason: unknown) => void
  readonly isLarge?: true
}

/**
 * A commit waits for up to this many turns of the event loop while its group grows. With thirty callers a group had eleven jobs
 * without it and thirty with it, and a write took two thirds of the time. A single caller waits for one turn.
 */
const maxTurns = 4

type WriteOutcome = { readonly result: unknown } | { readonly error: unknown }

export function createSqliteWriter(database: SqliteDatabase, deps: SqliteWriterDeps) {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const savepoint = database.prepare('SAVEPOINT job')
  const release = database.prepare('RELEASE job')
  let queue: WriteJob[] = []
  /** Jobs that wait for their heavy step. */
  const large: WriteJob[] = []

  /** Waits as long as each turn brings more jobs. */
  function flushOnceStill(before: number, turnsLeft: number): void {
    if (queue.length > before && turnsLeft > 0) setImmediate(flushOnceStill, queue.length, turnsLeft - 1)
    else flush()
  }

  function flush(): void {
    if (queue.length === 0) return
    const jobs = queue
    queue = []
    const outcomes = outcomesOf(jobs)
    const settle = (failure?: Error): void => jobs.forEach((job, index) => settleOne(job, failure, outcomes[index]))
    if (deps.whenDurable === undefined) settle()
    else deps.whenDurable(settle)
  }

  function settleOne(job: WriteJob, failure: Error | undefined, decided: WriteOutcome | undefined): void {
    const outcome = failure === undefined ? (decided as WriteOutcome) : { error: failure }
    if ('error' in outcome) deps.failed?.(outcome.error)
    // The caller of a large job continues with as much work.
    if (job.isLarge === true) void heavyStep().then(() => settleJob(job, outcome))
    else settleJob(job, outcome)
  }

  /** Writes the oldest large job, with the small ones that are waiting. */
  function flushLarge(): void {
    const job = large.shift()
    if (job === undefined) return
    queue.push(job)
    flush()
  }

  function outcomesOf(jobs: readonly WriteJob[]): readonly WriteOutcome[] {
    try {
      return transaction(() => together(jobs)) ?? transaction(() => oneByOne(jobs)) ?? []
    } catch (error) {
      return jobs.map(() => ({ error }))
    }
  }

  /** Commits unless `run` returns `undefined`. Throws if the commit fails. */
  function transaction<Result>(run: () => Result | undefined): Result | undefined {
    begin.run()
    let result: Result | undefined
    try {
      deps.begin()
      result = run()
      if (result !== undefined) {
        deps.beforeCommit()
        commit.run()
      }
    } catch (error) {
      rollBack()
      throw error
    }
    if (result === undefined) rollBack()
    else deps.afterCommit()
    return result
  }

  function rollBack(): void {
    if (database.inTransaction) database.exec('ROLLBACK')
    deps.rollback()
  }

  function together(jobs: readonly WriteJob[]): readonly WriteOutcome[] | undefined {
    try {
      const outcomes = jobs.map(({ work }) => ({ result: work() }))
      deps.finish()
      return outcomes
    } catch {
      // The writes of the failed job must be undone, and they are not known: start again with a savepoint per job.
      return undefined
    }
  }

  function oneByOne(jobs: readonly WriteJob[]): readonly WriteOutcome[] {
    return jobs.map(({ work }) => {
      savepoint.run()
      try {
        const result = work()
        deps.finish()
        return { result }
      } catch (error) {
        // Some errors, such as a full disk, end the whole transaction.
        if (!database.inTransaction) throw error
        database.exec('ROLLBACK TO job')
        deps.rollback()
        return { error }
      } finally {
        if (database.inTransaction) release.run()
      }
    })
  }

  return {
    /**
     * `onCommit` runs once the work is durable, before the promise is resolved. `size`: the size of the write, as far as known. A
     * large write is a step of its own, which small ones do not wait for.
     */
    write<Result>(work: () => Result, onCommit?: (result: Result) => void, size = 0): Promise<Result> {
      return new Promise<Result>((resolve, reject) => {
        if (isHeavy(size)) {
          large.push({ work, onCommit, resolve, reject, isLarge: true })
          return void heavyStep().then(flushLarge)
        }
        // After the poll phase: all requests that arrived together have been read by then.
        if (queue.length === 0) setImmediate(flushOnceStill, 0, maxTurns)
        queue.push({ work, onCommit, resolve, reject })
      })
    },
    /** Writes pending jobs at once. */
    flush(): void {
      queue.push(...large.splice(0))
      flush()
    },
  }
}

function settleJob({ onCommit, resolve, reject }: WriteJob, outcome: WriteOutcome): void {
  if ('error' in outcome) return reject(outcome.error)
  onCommit?.(outcome.result as never)
  resolve(outcome.result as never)
}
