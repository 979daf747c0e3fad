/**
 * Keeps one agent open: opens it, retries with backoff if that fails, and refreshes its live card periodically. A failed refresh
 * keeps the last known card.
 */
import { A2AError, type AgentLog, type Agent, type AgentFunction, type AgentOutput, type Turn } from '@parley/a2a'
import { jittered, linkSignals, abortable, withTimeout } from '@parley/a2a/internal'
import type { AgentKind, PartialCard, AgentServices, OpenAgent } from '../agents/kind.ts'
import { operatorMessage } from '../json/operator-message.ts'
import { createRetrySchedule, type RetryState } from './retry-schedule.ts'

/** Why an agent is not open. For operators, not for callers. */
export interface StartError {
  readonly message: string
  /** The time of the last attempt. */
  readonly at: number
}

export interface AgentSupervisor {
  /** Resolves when the agent is open or the first attempt has failed. Never rejects. */
  readonly firstAttempt: Promise<void>
  readonly open: OpenAgent | undefined
  /** Why it could not be opened; cleared when it opens. */
  readonly startError: StartError | undefined
  /** When it is tried again; `undefined` while it is open or opens for the first time. */
  readonly retry: RetryState | undefined
  /** Tries to open it now, and continues to retry. Resolves when the attempt has ended. */
  retryNow(): Promise<void>
  /** Stops the retries until `retryNow`. */
  stopRetrying(): void
  /** The card fields that the agent last reported. */
  readonly liveCard: PartialCard | undefined
  /** Fetches the live card again. */
  refreshCard(): Promise<void>
  close(): Promise<void>
}

export interface AgentSupervisorOptions {
  readonly kind: AgentKind
  readonly entry: unknown
  readonly services: AgentServices
  readonly log: AgentLog
  /** Called when the agent has opened or its live card changed. */
  onChange(): void
  /** Called when another attempt has failed or the retries were stopped: `startError` or `retry` is new. */
  onFailure?(): void
  readonly times?: Partial<AgentSupervisorTimes> | undefined
}

export interface AgentSupervisorTimes {
  readonly openTimeoutMs: number
  readonly refreshTimeoutMs: number
  /** The interval between two refreshes. */
  readonly refreshEveryMs: number
  readonly firstRetryMs: number
  readonly lastRetryMs: number
}

const defaultTimes: AgentSupervisorTimes = {
  openTimeoutMs: 15_000,
  refreshTimeoutMs: 10_000,
  // As long as clients cache a card.
  refreshEveryMs: 300_000,
  firstRetryMs: 1_000,
  lastRetryMs: 60_000,
}

export function superviseAgent({
  kind,
  entry,
  services,
  log,
  onChange,
  onFailure,
  ...given
}: AgentSupervisorOptions): AgentSupervisor {
  const times = { ...defaultTimes, ...given.times }
  const closing = new AbortController()
  const { signal } = closing
  const about = { agent: services.name, kind: kind.kind }
  let open: OpenAgent | undefined
  let startError: StartError | undefined
  let liveCard: PartialCard | undefined
  let refreshing: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const retries = createRetrySchedule({
    attempt: tryToOpen,
    firstMs: times.firstRetryMs,
    lastMs: () => times.lastRetryMs,
    now: services.now,
    onChange: () => onFailure?.(),
  })
  const firstAttempt = retries.run()

  async function tryToOpen(): Promise<void> {
    try {
      const made = await withOpenTimeout(callOpen(), times.openTimeoutMs, closeLateAgent)
      if (signal.aborted) return closeLateAgent(made)
      open = made
      if (startError !== undefined) log.info('the agent opened', { ...about, failedAttempts: retries.state?.attempts })
      startError = undefined
      onChange()
      void refreshPeriodically()
    } catch (cause) {
      if (signal.aborted) return
      const message = operatorMessage(cause)
      // Once for each error, not for each attempt.
      if (startError?.message !== message) {
        const next = retries.isStopped ? 'its retries are stopped' : 'it will be retried'
        const earlier = retries.state === undefined ? {} : { failedAttempts: retries.state.attempts }
        log.error(`the agent could not be opened; ${next}`, { ...about, ...earlier, cause })
      }
      startError = { message, at: services.now() }
      throw cause
    }
  }

  async function callOpen(): Promise<OpenAgent> {
    return kind.open(entry, { ...services, refreshCard: refreshAfterCurrent })
  }

  /** Closes an agent that opened after its supervisor was closed. */
  function closeLateAgent(late: OpenAgent): void {
    void late.close?.().catch((cause: unknown) => log.warn('an agent could not be closed', { ...about, cause }))
  }

  async function refreshPeriodically(): Promise<void> {
    if (open?.fetchCard === undefined) return
    await refreshCard()
    const delayMs = jittered(times.refreshEveryMs)
    if (!signal.aborted) timer = setTimeout(() => void refreshPeriodically(), delayMs).unref()
  }

  /** Callers that arrive during a refresh share its result. */
  function refreshCard(): Promise<void> {
    return (refreshing ??= refreshOnce().finally(() => (refreshing = undefined)))
  }

  /** A refresh in progress may have seen the previous state. */
  function refreshAfterCurrent(): void {
    void Promise.resolve(refreshing).then(() => (signal.aborted ? undefined : refreshCard()))
  }

  async function refreshOnce(): Promise<void> {
    const limit = linkSignals([signal], times.refreshTimeoutMs)
    try {
      const card = await open?.fetchCard?.(limit.signal)
      if (card === undefined || signal.aborted || JSON.stringify(card) === JSON.stringify(liveCard)) return
      liveCard = card
      onChange()
    } catch (cause) {
      if (!signal.aborted) log.debug('the description of the agent could not be read', { ...about, cause })
    } finally {
      limit.end()
    }
  }

  return {
    firstAttempt,
    get open() {
      return open
    },
    get startError() {
      return startError
    },
    get retry() {
      return retries.state
    },
    async retryNow() {
      if (open === undefined && !signal.aborted) await retries.retryNow()
    },
    stopRetrying() {
      if (open === undefined) retries.stop()
    },
    get liveCard() {
      return liveCard
    },
    refreshCard,
    async close() {
      if (signal.aborted) return
      closing.abort()
      retries.close()
      clearTimeout(timer)
      // An agent that is still opening is closed once it has opened.
      await open?.close?.()
    },
  }
}

function withOpenTimeout<T>(value: Promise<T>, limitMs: number, late: (value: T) => void): Promise<T> {
  return withTimeout(value, limitMs, () => {
    value.then(late, () => {})
    return new Error(`it took longer than ${limitMs / 1_000} s to open`)
  })
}

/**
 * Placeholder for an agent that has not opened yet. New calls are refused before they reach it. It runs turns that a restart
 * interrupted or that waited in a queue, by the real agent as soon as that has opened: `whenOpen` resolves with it. The turn fails
 * after `waitMs`.
 */
export function createUnavailableAgent(whenOpen: () => Promise<Agent>, waitMs: number): Agent {
  const wait = async (turn: Turn, selectRun: (agent: Agent) => AgentFunction | undefined): Promise<AgentOutput> => {
    const run = selectRun(await withTimeout(abortable(turn.signal, whenOpen()), waitMs, agentUnavailableError))
    if (run === undefined) return { state: 'TASK_STATE_FAILED', message: 'The task was interrupted by a restart' }
    return run(turn)
  }
  return {
    resume: 'reattach',
    run: (turn) => wait(turn, (agent) => (typeof agent === 'function' ? agent : agent.run)),
    reattach: (turn) =>
      wait(turn, (agent) => {
        if (typeof agent === 'function' || agent.resume === 'fail') return undefined
        return agent.resume === 'reattach' ? agent.reattach : agent.run
      }),
  }
}

/** Has no retry delay, so that clients fail at once instead of retrying by themselves. */
export function agentUnavailableError(): A2AError {
  return new A2AError('AGENT_UNAVAILABLE', 'The agent is not available at the moment')
}
