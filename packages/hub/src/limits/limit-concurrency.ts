/**
 * Limits the concurrent turns of an agent; the others wait, fairly by caller. Wraps any agent and keeps its resume semantics: a
 * restart treats a queued turn like a running one.
 */
import { A2AError, status, type Agent, type AgentFunction, type AgentOutput, type Report, type Turn } from '@parley/a2a'
import { linkSignals, resultWithin } from '@parley/a2a/internal'
import { createFairQueue, type FairQueue } from './fair-queue.ts'
import { reportIterator, watchRun, wrapAgent, type ReportIterator } from '../agents/wrap-agent.ts'
import type { AgentLimits } from '../config/sections/limits.ts'
import { type ConcurrencySlot, createConcurrencySlot } from './concurrency-slot.ts'

export interface ConcurrencyOptions {
  /** Maximum number of concurrent turns. */
  readonly concurrent: number
  /** Maximum number of waiting turns. Default 100. */
  readonly queue?: number | undefined
  /** How long a turn may wait. Default 1 minute. */
  readonly queueTimeoutMs?: number | undefined
  /** A turn that waits longer reports it, once. Default 1 s. */
  readonly noticeMs?: number | undefined
  /** Receives the queue, to expose its length. */
  onQueue?(queue: Pick<FairQueue, 'waiting' | 'running'>): void
}

/** For refused callers: by then part of the queue has been served. */
const retryAfterSeconds = '5'

export function limitConcurrency(agent: Agent, options: ConcurrencyOptions): Agent {
  const { concurrent, queue: maxWaiting = 100, queueTimeoutMs = 60_000, noticeMs = 1_000 } = options
  const queue = createFairQueue(concurrent)
  options.onQueue?.(queue)

  const limited =
    (run: AgentFunction): AgentFunction =>
    (turn) => {
      const release = queue.tryAcquire()
      if (release !== undefined) return runInSlot(run, createConcurrencySlot(queue, queueKey(turn), turn, release))
      // Whether the turn can be refused is checked only if the queue is full, because that may read the log.
      if (queue.waiting < maxWaiting) return runQueued(run, turn, queue, { noticeMs, queueTimeoutMs })
      return runWhenFull(run, turn)
    }

  /** A task that has begun does not fail for lack of a slot: unfinished tasks may always wait. */
  async function runWhenFull(run: AgentFunction, turn: Turn): Promise<AgentOutput> {
    if (await isFirstMessage(turn)) throw agentBusyError('The agent is busy and accepts no more work now')
    return runQueued(run, turn, queue, { noticeMs, queueTimeoutMs })
  }

  return wrapAgent(agent, limited)
}

/** Whether refusing would lose nothing but this message. */
async function isFirstMessage(turn: Turn): Promise<boolean> {
  return turn.resumed === undefined && (await turn.history()).length <= 1
}

function runQueued(
  run: AgentFunction,
  turn: Turn,
  queue: FairQueue,
  { noticeMs, queueTimeoutMs }: { readonly noticeMs: number; readonly queueTimeoutMs: number },
): AsyncIterable<Report> {
  const linked = linkSignals([turn.signal])
  const tooLate = setTimeout(() => {
    // Checked only at the timeout, for the same reason as above.
    isFirstMessage(turn).then(
      (first) => first && linked.abort(agentBusyError('The agent was busy for too long')),
      // If the check fails, the turn keeps waiting: its own deadline still applies.
      () => {},
    )
  }, queueTimeoutMs)
  const caller = queueKey(turn)
  const slotPromise = queue.acquire(caller, linked.signal)
  const over = (): void => {
    clearTimeout(tooLate)
    linked.end()
  }
  const hasSlot = slotPromise.then(over, over).then(() => true)
  let inner: ReportIterator | undefined
  let isNoticed = false
  const next = async (): Promise<IteratorResult<Report, Report | undefined>> => {
    if (inner === undefined) {
      if (!isNoticed && !(await resultWithin(hasSlot, noticeMs, false))) {
        isNoticed = true
        return { done: false, value: status('Waiting: the agent is busy with other tasks') }
      }
      const release = await slotPromise
      inner = reportIterator(await runInSlot(run, createConcurrencySlot(queue, caller, turn, release)))
    }
    return inner.next()
  }
  return {
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        linked.abort(new A2AError('INTERRUPTED', 'The turn has ended'))
        await inner?.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

/** Runs the agent, and releases the slot when nothing of it runs any more. */
function runInSlot(run: AgentFunction, slot: ConcurrencySlot): AgentOutput | Promise<AgentOutput> {
  const { turn, release, releaseSoon } = slot
  return watchRun(run, turn, { onEnd: release, onError: release, onStop: releaseSoon, onStopped: release })
}

/** Two tenants may have callers of the same name. */
function queueKey({ tenant, caller }: Turn): string {
  return JSON.stringify([tenant, caller.id])
}

function agentBusyError(message: string): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', message, { retryAfterSeconds })
}

/** The queues of all agents with a concurrency limit, by name; exposes their lengths. */
interface AgentQueues {
  /** The agent behind its limits, if it has any. */
  limit(agent: Agent, limits: AgentLimits, name: string): Agent
  lengths(): readonly { readonly agent: string; readonly waiting: number; readonly running: number }[]
}

export function createAgentQueues(): AgentQueues {
  const queues = new Map<string, Pick<FairQueue, 'waiting' | 'running'>>()
  return {
    limit(agent, { concurrent, queue, queueTimeout: queueTimeoutMs }, name) {
      queues.delete(name)
      if (concurrent === undefined) return agent
      return limitConcurrency(agent, {
        concurrent,
        queue,
        queueTimeoutMs,
        onQueue: (made) => void queues.set(name, made),
      })
    },
    lengths: () => [...queues].map(([agent, { waiting, running }]) => ({ agent, waiting, running })),
  }
}
