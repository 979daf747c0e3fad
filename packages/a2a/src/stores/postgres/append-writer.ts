/**
 * Group commit: all appends requested during the last commit, or in one turn of the event loop, are one call of `append_1`, which
 * is one transaction and one round trip. One flush runs at a time, so appends that wait longer share a flush. (Two to four at a
 * time were no faster: one flush of many appends costs the server less than two of few.) In a flush a task and a message occur once;
 * the next append of the same task goes with the next flush, in the order of the requests.
 *
 * Flushes are numbered. If the connection is lost during a flush, the database is asked whether the flush was written. If it was,
 * its results are stored there; if it was not, it can no longer be.
 */
import { isHeavy } from '../../model/heavy-step.ts'
import type { Append, AppendResult } from '../store.ts'
import type { DatabaseTime, PostgresDatabase } from './database.ts'
import { type AppendAnswer, type PreparedAppend, appendResultOf, prepareAppend } from './append-row.ts'
import { backoffMs } from '../../model/backoff.ts'
import { delay, firstRetryMs, isOutcomeUnknown, isTransientError } from './database-errors.ts'

/** A position in the feed has ten bits for the place within a flush. */
const maxAppends = 512
const maxBytes = 8_000_000
/** With more appends waiting, the database does not keep up or is gone: failing is better than running out of memory. */
const maxWaiting = 20_000
const shards = 15

export interface PostgresWriterDeps {
  readonly database: PostgresDatabase
  readonly schema: string
  readonly time: DatabaseTime
  /** How long a flush is retried on transient errors. */
  readonly retryTimeoutMs: number
  /** Called when a flush starts; the returned function receives what the flush wrote. */
  onFlush(): (written: readonly WrittenAppend[]) => void
}

export interface WrittenAppend {
  readonly append: PreparedAppend
  readonly head: number
  /** Of its row in the feed, and the time that its records were raised to, if they were. */
  readonly position: number
  readonly notBefore: number
}

interface AppendJob extends PreparedAppend {
  resolve(outcome: AppendResult): void
  reject(reason: unknown): void
}

/**
 * Appends of megabytes have flushes of their own: the database takes a second for one of 20 MB, and small ones must not wait for it.
 * The next append of a task is requested when the last is written, so it does not matter which goes first.
 */
export function createPostgresWriter(deps: PostgresWriterDeps) {
  // Shard 0 is for removals. Two flushes at a time count in different shards, or one would wait for the other.
  const shard = Math.floor(Math.random() * shards)
  const small = createLane(deps, 1 + shard)
  const large = createLane(deps, 1 + ((shard + 1) % shards))
  const enqueue = (prepared: PreparedAppend): Promise<AppendResult> =>
    (isHeavy(prepared.bytes) ? large : small).append(prepared)

  return {
    append(taskId: string, given: Append): Promise<AppendResult> {
      if (small.isFull() || large.isFull())
        return Promise.reject(new Error('Too many appends are waiting for the database'))
      const prepared = prepareAppend(taskId, given, deps.time)
      return prepared instanceof Promise ? prepared.then(enqueue) : enqueue(prepared)
    },
  }
}

/** Writes one flush after the other. */
function createLane({ database, schema, time, retryTimeoutMs, onFlush }: PostgresWriterDeps, shard: number) {
  const writerId = crypto.randomUUID()
  const appendAll = `SELECT ${schema}.append_1($1, $2, $3, $4, $5, $6, $7) AS answer`
  const settleFlush = `SELECT ${schema}.settle_1($1, $2) AS answer`
  let queue: AppendJob[] = []
  let flush = 0
  /** The flush with an unknown outcome: the database is asked before the next flush. Initially empty. */
  let unknownFlush: readonly AppendJob[] | undefined = []
  let isPlanned = false
  let isWriting = false

  function plan(): void {
    if (isPlanned || isWriting) return
    isPlanned = true
    // After the poll phase: all requests that arrived together have been read by then.
    setImmediate(start)
  }

  function start(): void {
    isPlanned = false
    isWriting = true
    void write(takeJobs()).finally(() => {
      isWriting = false
      if (queue.length > 0) plan()
    })
  }

  function takeJobs(): readonly AppendJob[] {
    const jobs: AppendJob[] = []
    const later: AppendJob[] = []
    const taken = new Set<string>()
    let bytes = 0
    for (const job of queue) {
      const isFull = jobs.length >= maxAppends || (bytes > 0 && bytes + job.bytes > maxBytes)
      const isLater = isFull || taken.has(job.id) || (job.key !== undefined && taken.has(job.key))
      // Also for an append that has to wait: no later append of the same task may overtake it.
      taken.add(job.id)
      if (job.key !== undefined) taken.add(job.key)
      if (isLater) later.push(job)
      else {
        jobs.push(job)
        bytes += job.bytes
      }
    }
    queue = later
    return jobs
  }

  async function write(jobs: readonly AppendJob[]): Promise<void> {
    const tell = onFlush()
    try {
      const answers = await commit(jobs, performance.now() + retryTimeoutMs)
      const written: WrittenAppend[] = []
      jobs.forEach((job, index) => {
        const answer = answers[index] as AppendAnswer
        if (answer[0] === 0) {
          const [, head, , position, notBefore] = answer
          written.push({ append: job, head, position, notBefore: notBefore ?? 0 })
        }
        job.resolve(appendResultOf(answer))
      })
      tell(written)
    } catch (error) {
      tell([])
      await oneByOne(jobs, error)
    }
  }

  /** An append that the database rejects must not fail the others of its flush. */
  async function oneByOne(jobs: readonly AppendJob[], error: unknown): Promise<void> {
    if (jobs.length > 1 && !isTransientError(error)) for (const job of jobs) await write([job])
    else for (const job of jobs) job.reject(error)
  }

  /** Retries until the flush is known to be written, or until `giveUpAt`. */
  async function commit(jobs: readonly AppendJob[], giveUpAt: number): Promise<readonly AppendAnswer[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = unknownFlush && (await settle(unknownFlush))
        // If the flush is not this one, its callers have already received an error with an unknown outcome.
        if (answer && answer.jobs === jobs) return answer.answers
        return await send(jobs)
      } catch (error) {
        const waitMs = backoffMs(attempt, firstRetryMs, 500)
        if (!isTransientError(error) || performance.now() + waitMs > giveUpAt) throw error
        await delay(waitMs)
      }
    }
  }

  /** The results of a flush, if it was written after all. */
  async function settle(jobs: readonly AppendJob[]) {
    const [row] = await database.query<{ answer: string | null }>(settleFlush, writerId, flush)
    unknownFlush = undefined
    const answer = row?.answer ?? null
    return answer === null ? undefined : { jobs, answers: JSON.parse(answer) as readonly AppendAnswer[] }
  }

  async function send(jobs: readonly AppendJob[]): Promise<readonly AppendAnswer[]> {
    const rows = jobs.map(({ row }, n) => `{"n":${n},${row}`).join(',')
    const blobs = jobs.flatMap((job, n) => job.blobs.map((blob) => ({ n, ...blob })))
    const extended = jobs.filter(({ createsTask }) => !createsTask).map(({ id }) => id)
    const number = flush + 1
    try {
      const values = [writerId, number, shard, extended, `[${rows}]`, JSON.stringify(blobs), time.now()]
      const [row] = await database.query<{ answer: string | null }>(appendAll, ...values)
      const answer = row?.answer ?? null
      if (answer === null) throw new Error('The database has lost the state of this writer')
      flush = number
      return JSON.parse(answer) as AppendAnswer[]
    } catch (error) {
      if (isOutcomeUnknown(error)) {
        flush = number
        unknownFlush = jobs
      }
      throw error
    }
  }

  return {
    isFull: () => queue.length >= maxWaiting,
    append(prepared: PreparedAppend): Promise<AppendResult> {
      return new Promise((resolve, reject) => {
        queue.push({ ...prepared, resolve, reject })
        plan()
      })
    },
  }
}
