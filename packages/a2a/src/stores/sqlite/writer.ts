/**
 * Group commit: everything that is to be written in one turn of the event loop, or in a few while more comes, shares
 * one transaction, and is answered when that is on disk. A commit costs the same for
 * one append as for thirty. Each job is decided for itself; one that fails takes nobody with it.
 *
 * Not in a thread of its own: that kept the event loop free of the disk, but with two cores, which the thread shares with
 * callers, short tasks came at 0.83 of the rate and took 60 µs more CPU each. Checkpoints in a thread gained nothing either.
 */
import { heavyStep, isHeavy } from '../../model/heavy-step.ts'
import type { Database } from './database.ts'

export interface Writer {
  /** `onCommit` runs once the work is durable, before the promise is resolved. */
  /** `size`: of what is written, as far as it is known. A large one is a step of its own, which small ones do not wait for. */
  write<Result>(work: () => Result, onCommit?: (result: Result) => void, size?: number): Promise<Result>
  /** Writes at once what is waiting. */
  flush(): void
}

export interface WriterParts {
  /** Runs at the beginning of every transaction and may refuse it. */
  begin(): void
  /** Writes what the jobs have gathered for the end of a transaction. */
  finish(): void
  /** Forgets what was gathered. */
  abandon(): void
  /** The last step before a commit. */
  beforeCommit(): void
  /** What was written is durable. Must not throw. */
  afterCommit(): void
  /** Called with the error of every failed job. */
  failed?(error: unknown): void
}

interface Job {
  readonly work: () => unknown
  readonly onCommit: ((result: never) => void) | undefined
  readonly resolve: (result: never) => void
  readonly reject: (reason: unknown) => void
  readonly isLarge?: true
}

/**
 * For so many turns of the event loop a commit waits while its group grows. With thirty callers a group was of eleven
 * without it and of thirty with it, and a write took two thirds of the time. One who is alone waits for one turn.
 */
const mostTurns = 4

type Outcome = { readonly result: unknown } | { readonly error: unknown }

export function createWriter(database: Database, parts: WriterParts): Writer {
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const savepoint = database.prepare('SAVEPOINT job')
  const release = database.prepare('RELEASE job')
  let queue: Job[] = []
  /** Jobs that wait for their step. */
  const large: Job[] = []

  /** Waits for those who are on their way, as long as more come with each turn. */
  function flushOnceStill(before: number, turnsLeft: number): void {
    if (queue.length > before && turnsLeft > 0) setImmediate(flushOnceStill, queue.length, turnsLeft - 1)
    else flush()
  }

  function flush(): void {
    if (queue.length === 0) return
    const jobs = queue
    queue = []
    const outcomes = outcomesOf(jobs)
    jobs.forEach((job, index) => {
      const outcome = outcomes[index] as Outcome
      if ('error' in outcome) parts.failed?.(outcome.error)
      // The caller of a large job continues with as much work.
      if (job.isLarge === true) void heavyStep().then(() => settle(job, outcome))
      else settle(job, outcome)
    })
  }

  /** The oldest large job, with the small ones that are waiting. */
  function flushLarge(): void {
    const job = large.shift()
    if (job === undefined) return
    queue.push(job)
    flush()
  }

  function outcomesOf(jobs: readonly Job[]): readonly Outcome[] {
    try {
      return transaction(() => together(jobs)) ?? transaction(() => oneByOne(jobs)) ?? []
    } catch (error) {
      return jobs.map(() => ({ error }))
    }
  }

  /** Commits unless `run` answers nothing. Throws if it could not be committed. */
  function transaction<Result>(run: () => Result | undefined): Result | undefined {
    begin.run()
    let result: Result | undefined
    try {
      parts.begin()
      result = run()
      if (result !== undefined) {
        parts.beforeCommit()
        commit.run()
      }
    } catch (error) {
      rollBack()
      throw error
    }
    if (result === undefined) rollBack()
    else parts.afterCommit()
    return result
  }

  function rollBack(): void {
    if (database.inTransaction) database.exec('ROLLBACK')
    parts.abandon()
  }

  function together(jobs: readonly Job[]): readonly Outcome[] | undefined {
    try {
      const outcomes = jobs.map(({ work }) => ({ result: work() }))
      parts.finish()
      return outcomes
    } catch {
      // What the failed job wrote must go, and nothing says what that was: start again, more carefully.
      return undefined
    }
  }

  function oneByOne(jobs: readonly Job[]): readonly Outcome[] {
    return jobs.map(({ work }) => {
      savepoint.run()
      try {
        const result = work()
        parts.finish()
        return { result }
      } catch (error) {
        // Some errors, such as a full disk, end the whole transaction.
        if (!database.inTransaction) throw error
        database.exec('ROLLBACK TO job')
        parts.abandon()
        return { error }
      } finally {
        if (database.inTransaction) release.run()
      }
    })
  }

  return {
    write<Result>(work: () => Result, onCommit?: (result: Result) => void, size = 0) {
      return new Promise<Result>((resolve, reject) => {
        if (isHeavy(size)) {
          large.push({ work, onCommit, resolve, reject, isLarge: true })
          return void heavyStep().then(flushLarge)
        }
        // After the poll phase: all requests that arrived together have then been read.
        if (queue.length === 0) setImmediate(flushOnceStill, 0, mostTurns)
        queue.push({ work, onCommit, resolve, reject })
      })
    },
    flush() {
      queue.push(...large.splice(0))
      flush()
    },
  }
}

function settle({ onCommit, resolve, reject }: Job, outcome: Outcome): void {
  if ('error' in outcome) return reject(outcome.error)
  onCommit?.(outcome.result as never)
  resolve(outcome.result as never)
}
