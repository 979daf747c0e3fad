/**
 * An agent that works on so many turns at one time; the others wait their turn, fairly by caller. Around any agent, and
 * with its resume semantics: what a restart means for a turn is the same whether it had begun or still waited.
 */
import {
  A2AError,
  linkSignals,
  status,
  type Agent,
  type AgentFunction,
  type AgentOutput,
  type Report,
  type Turn,
} from '@parley/a2a'
import { createFairQueue, type FairQueue } from './fair-queue.ts'
import { isPlain, reportIterator, type ReportIterator } from './report-iterator.ts'
import { openSeat, type Seat } from './seat.ts'

export interface ConcurrencyOptions {
  /** Turns that run at one time. */
  readonly concurrent: number
  /** How many may wait. Default 100. */
  readonly queue?: number | undefined
  /** How long one may wait. Default 1 minute. */
  readonly queueTimeoutMs?: number | undefined
  /** A turn that waits for longer says so, once. Default 1 s. */
  readonly noticeMs?: number | undefined
  /** Given the queue, for whoever wants to know how long it is. */
  opened?(queue: Pick<FairQueue, 'waiting' | 'inside'>): void
}

/** For whoever is turned away: by then some of those who wait have been served. */
const retryAfterSeconds = '5'

export function limitConcurrency(agent: Agent, options: ConcurrencyOptions): Agent {
  const { concurrent, queue: most = 100, queueTimeoutMs = 60_000, noticeMs = 1_000 } = options
  const queue = createFairQueue(concurrent)
  options.opened?.(queue)

  const limited =
    (run: AgentFunction): AgentFunction =>
    (turn) => {
      const leave = queue.tryEnter()
      if (leave !== undefined) return seated(run, openSeat(queue, callerOf(turn), turn, leave))
      // Whoever would have been refused is only asked about if that is so: it may take a look at the log.
      if (queue.waiting < most) return inLine(run, turn, queue, { noticeMs, queueTimeoutMs })
      return whenFull(run, turn)
    }

  /** A task that has begun is not failed for want of a place: as many as there are unfinished tasks may wait. */
  async function whenFull(run: AgentFunction, turn: Turn): Promise<AgentOutput> {
    if (await isFirst(turn)) throw busy('The agent is busy and takes no more work now')
    return inLine(run, turn, queue, { noticeMs, queueTimeoutMs })
  }

  if (typeof agent === 'function') return limited(agent)
  return agent.resume === 'reattach'
    ? { ...agent, run: limited(agent.run), reattach: limited(agent.reattach) }
    : { ...agent, run: limited(agent.run) }
}

/** Whether nothing would be lost but this message if it were refused. */
async function isFirst(turn: Turn): Promise<boolean> {
  return turn.resumed === undefined && (await turn.history()).length <= 1
}

interface Patience {
  readonly noticeMs: number
  readonly queueTimeoutMs: number
}

function inLine(
  run: AgentFunction,
  turn: Turn,
  queue: FairQueue,
  { noticeMs, queueTimeoutMs }: Patience,
): AsyncIterable<Report> {
  const left = linkSignals([turn.signal])
  const tooLate = setTimeout(() => {
    // Asked when it is so, for the same reason as above.
    isFirst(turn).then(
      (first) => first && left.abort(busy('The agent was busy for too long')),
      // What cannot be known now is not given up: the turn's own deadline is there, too.
      () => {},
    )
  }, queueTimeoutMs)
  const caller = callerOf(turn)
  const place = queue.enter(caller, left.signal)
  const over = (): void => {
    clearTimeout(tooLate)
    left.end()
  }
  const settled = place.then(over, over)
  let inner: ReportIterator | undefined
  let isTold = false
  const next = async (): Promise<IteratorResult<Report, Report | undefined>> => {
    if (inner === undefined) {
      if (!isTold && (await lasts(settled, noticeMs))) {
        isTold = true
        return { done: false, value: status('Waiting for a place: the agent is busy with the work of others') }
      }
      const leave = await place
      inner = reportIterator(await seated(run, openSeat(queue, caller, turn, leave)))
    }
    return inner.next()
  }
  return {
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        left.abort(new A2AError('INTERRUPTED', 'The turn is over'))
        await inner?.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

/** Whether it takes longer than this. */
async function lasts(settled: Promise<void>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(true), ms)))
  try {
    return await Promise.race([settled.then(() => false), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Runs the agent, and gives the seat back when nothing of it runs any more. */
function seated(run: AgentFunction, seat: Seat): AgentOutput | Promise<AgentOutput> {
  try {
    const output = run(seat.turn)
    return output instanceof Promise
      ? output.then(
          (given: AgentOutput) => held(given, seat),
          (reason: unknown) => {
            seat.leave()
            throw reason
          },
        )
      : held(output, seat)
  } catch (reason) {
    seat.leave()
    throw reason
  }
}

function held(output: AgentOutput, seat: Seat): AgentOutput {
  if (isPlain(output)) {
    seat.leave()
    return output
  }
  return { [Symbol.asyncIterator]: () => letGo(reportIterator(output), seat) }
}

function letGo(iterator: ReportIterator, seat: Seat): ReportIterator {
  return {
    async next() {
      try {
        const result = await iterator.next()
        if (result.done === true) seat.leave()
        return result
      } catch (reason) {
        seat.leave()
        throw reason
      }
    },
    async return() {
      seat.leaveSoon()
      try {
        return (await iterator.return?.()) ?? { done: true, value: undefined }
      } finally {
        seat.leave()
      }
    },
  }
}

/** Two tenants may have callers of one name. */
function callerOf({ tenant, caller }: Turn): string {
  return JSON.stringify([tenant, caller.id])
}

function busy(message: string): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', message, { retryAfterSeconds })
}
