/**
 * Group commit: everything that all tasks want appended while the last commit was under way, or in one turn of the event
 * loop, is one call of `append_2`, which is one transaction and one round trip. One flush is under way at a time, so what
 * waits longer travels together. (Two to four at a time were no faster: one large flush costs the server less than two small
 * ones.) In a flush a task and a message occur once; the next append of the same task goes with the next flush, in the
 * order asked for.
 *
 * Flushes are numbered. If the connection is lost in the middle of one, the database is asked whether it was written; if
 * it was, its answers are there, and if it was not, it can no longer be.
 */
import type { Append, Appended } from '../store.ts'
import type { Database } from './database.ts'
import type { Answer, Prepared } from './prepare.ts'
import { outcomeOf, prepare } from './prepare.ts'
import type { DatabaseTime } from './time.ts'
import { backoffMs, isInDoubt, passes, pause } from './trouble.ts'

/** A position in the feed has ten bits for the place within a flush. */
const maxAppends = 512
const maxBytes = 8_000_000
/** With more than this waiting, the database does not keep up, or is gone: better to say so than to run out of memory. */
const maxWaiting = 20_000

export interface WriterParts {
  readonly database: Database
  readonly schema: string
  readonly time: DatabaseTime
  /** How long a flush is tried again while trouble may pass. */
  readonly patienceMs: number
  /** Called when a flush goes out; what it answers is told what was written by it. */
  flushing(): (written: readonly Written[]) => void
}

export interface Written {
  readonly id: string
  readonly head: number
  readonly makes: boolean
}

interface Job extends Prepared {
  resolve(outcome: Appended): void
  reject(reason: unknown): void
}

export type Writer = ReturnType<typeof createWriter>

export function createWriter({ database, schema, time, patienceMs, flushing }: WriterParts) {
  const writerId = crypto.randomUUID()
  // Shard 0 is that of removals.
  const shard = 1 + Math.floor(Math.random() * 15)
  const appendAll = `SELECT ${schema}.append_2($1, $2, $3, $4, $5, $6, $7) AS answer`
  const settleFlush = `SELECT ${schema}.settle_1($1, $2) AS answer`
  let queue: Job[] = []
  let flush = 0
  /** Whose flush may or may not have been written: the database is asked before the next. At first, nobody's is. */
  let doubtful: readonly Job[] | undefined = []
  let isPlanned = false
  let isWriting = false

  function plan(): void {
    if (isPlanned || isWriting) return
    isPlanned = true
    // After the poll phase: all requests that arrived together have then been read.
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

  function takeJobs(): readonly Job[] {
    const jobs: Job[] = []
    const later: Job[] = []
    const taken = new Set<string>()
    let bytes = 0
    for (const job of queue) {
      const isFull = jobs.length >= maxAppends || (bytes > 0 && bytes + job.bytes > maxBytes)
      const isLater = isFull || taken.has(job.id) || (job.key !== undefined && taken.has(job.key))
      // Also of one that has to wait: nothing of the same task may overtake it.
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

  async function write(jobs: readonly Job[]): Promise<void> {
    const tell = flushing()
    try {
      const answers = await commit(jobs, performance.now() + patienceMs)
      const written: Written[] = []
      jobs.forEach((job, index) => {
        const outcome = outcomeOf(answers[index] as Answer)
        if (outcome.outcome === 'appended') written.push({ id: job.id, head: outcome.head, makes: job.makes })
        job.resolve(outcome)
      })
      tell(written)
    } catch (error) {
      tell([])
      await oneByOne(jobs, error)
    }
  }

  /** What the database cannot take must not keep out what came with it. */
  async function oneByOne(jobs: readonly Job[], error: unknown): Promise<void> {
    if (jobs.length > 1 && !passes(error)) for (const job of jobs) await write([job])
    else for (const job of jobs) job.reject(error)
  }

  /** Tries until it is known that it was written, or until `giveUpAt`. */
  async function commit(jobs: readonly Job[], giveUpAt: number): Promise<readonly Answer[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const answer = doubtful && (await settle(doubtful))
        // Whoever gave up before has been told that nobody knows.
        if (answer && answer.jobs === jobs) return answer.answers
        return await send(jobs)
      } catch (error) {
        const waitMs = backoffMs(attempt, 500)
        if (!passes(error) || performance.now() + waitMs > giveUpAt) throw error
        await pause(waitMs)
      }
    }
  }

  /** What a flush was answered, if it was written after all. */
  async function settle(jobs: readonly Job[]) {
    const [row] = await database.once<{ answer: string | null }>(settleFlush, writerId, flush)
    doubtful = undefined
    const answer = row?.answer ?? null
    return answer === null ? undefined : { jobs, answers: JSON.parse(answer) as readonly Answer[] }
  }

  async function send(jobs: readonly Job[]): Promise<readonly Answer[]> {
    const rows = jobs.map(({ row }, n) => `{"n":${n},${row}`).join(',')
    const blobs = jobs.flatMap((job, n) => job.blobs.map((blob) => ({ n, ...blob })))
    const extended = jobs.filter(({ makes }) => !makes).map(({ id }) => id)
    const number = flush + 1
    try {
      const values = [writerId, number, shard, extended, `[${rows}]`, JSON.stringify(blobs), time.now()]
      const [row] = await database.once<{ answer: string | null }>(appendAll, ...values)
      const answer = row?.answer ?? null
      if (answer === null) throw new Error('The database does not know this writer as it was')
      flush = number
      return JSON.parse(answer) as Answer[]
    } catch (error) {
      if (isInDoubt(error)) {
        flush = number
        doubtful = jobs
      }
      throw error
    }
  }

  return {
    append(taskId: string, given: Append): Promise<Appended> {
      if (queue.length >= maxWaiting) return Promise.reject(new Error('Too many appends wait for the database'))
      return new Promise((resolve, reject) => {
        queue.push({ ...prepare(taskId, given, time), resolve, reject })
        plan()
      })
    },
  }
}
