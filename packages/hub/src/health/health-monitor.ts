/**
 * The health of the agents of the hub, from their probes and from the results of their turns. In memory: after a restart it is
 * measured again.
 */
import { A2AError, type Agent, type AgentLog, type Report, type Turn } from '@parley/a2a'
import { jittered, clockOf, hasSettled, linkSignals, omitUndefined } from '@parley/a2a/internal'
import { createRetrySchedule, type RetrySchedule, type RetryState } from '../registry/retry-schedule.ts'
import { operatorMessage } from '../json/operator-message.ts'
import { type RunWatcher, watchRun, wrapAgent } from '../agents/wrap-agent.ts'

export interface HealthSettings {
  readonly every: number
  readonly timeout: number
  readonly slow: number
  readonly failures: number
  readonly cooldown: number
}

export interface HealthMonitorDeps {
  settings(): HealthSettings
  names(): readonly string[]
  isOpen(agent: string): boolean
  /** The probe of an agent; `undefined` if it has none. */
  probe(agent: string): ((signal: AbortSignal) => Promise<void>) | undefined
  /** Identifies what is open under the name: failures of a previous one do not count. Default: always the same. */
  instance?(agent: string): unknown
  /** Called when an agent became reachable or unreachable, and when its retries were stopped. */
  onChange?(agent: string): void
  readonly log: AgentLog
  readonly now: () => number
  /** For the circuit breaker and the age of results. Default: `now`. */
  readonly monotonicNow?: () => number
}

export interface AgentHealth {
  readonly state: 'up' | 'slow' | 'down'
  /** Why it is not up. For operators. */
  readonly why?: string
  /** The error of its last probe with its causes. For operators. */
  readonly cause?: string
  readonly breaker: CircuitBreakerState
  /** Average time to the first output, if known. */
  readonly firstWordMs?: number
  /** The time of the last probe, answered or not. Absent if a turn failed since, or another agent was opened under the name. */
  readonly askedAt?: number
  /** Set while its probe fails. */
  readonly retry?: RetryState
}

export interface HealthMonitor {
  get(agent: string): AgentHealth
  /** Whether work may be delegated to it now; for an agent that was down, the caller that gets `true` runs the trial. */
  tryAcquire(agent: string): boolean
  canAcquire(agent: string): boolean
  /** The observer for the turns of an agent. */
  observer(agent: string): TurnObserver
  /** Probes all agents now, except those whose retries are stopped. */
  probe(): Promise<void>
  /** Probes one agent now, and continues to retry. Resolves when the probe has ended. */
  retryNow(agent: string): Promise<void>
  /** Stops probing an unreachable agent until `retryNow`, a turn that succeeds or a new configuration of the agent. */
  stopRetrying(agent: string): void
  close(): void
}

interface HealthRecord {
  readonly breaker: CircuitBreaker
  readonly retries: RetrySchedule
  instance: unknown
  failure?: string | undefined
  /** `undefined`: a check is due. */
  askedAt?: number | undefined
  firstWordMs?: number
  samples: number
  lastOutputAt: number
}

/** The weight of a new time against the previous average. */
const smoothing = 0.3
const minSamples = 3
/** Results older than this many cooldowns are ignored. */
const maxAgeCooldowns = 10
const idleMs = 60_000
/** An unreachable agent is probed again after this time, then ever less often, up to the interval of the checks. */
const firstRetryMs = 5_000

export function createHealthMonitor({
  settings,
  names,
  isOpen,
  probe,
  instance,
  onChange,
  log,
  ...clock
}: HealthMonitorDeps): HealthMonitor {
  const { now, monotonicNow } = clockOf(clock)
  const known = new Map<string, HealthRecord>()
  const closing = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  scheduleProbe()

  function recordOf(agent: string): HealthRecord {
    const record = known.get(agent) ?? createRecord(agent)
    known.set(agent, record)
    const current = instance?.(agent)
    if (record.instance !== current) {
      record.instance = current
      record.askedAt = undefined
      forgetFailure(record)
    }
    return record
  }

  function createRecord(agent: string): HealthRecord {
    return {
      breaker: createCircuitBreaker(() => ({ failures: settings().failures, cooldownMs: settings().cooldown })),
      retries: createRetrySchedule({
        attempt: () => probeAgent(agent),
        firstMs: firstRetryMs,
        lastMs: () => settings().every,
        now,
        onChange: () => onChange?.(agent),
      }),
      instance: instance?.(agent),
      samples: 0,
      lastOutputAt: 0,
    }
  }

  function forgetFailure(record: HealthRecord): void {
    record.failure = undefined
    record.retries.reset()
  }

  function downReason(agent: string, { breaker, failure }: HealthRecord): string | undefined {
    if (!isOpen(agent)) return 'it is unavailable'
    if (failure !== undefined) return `its health check failed: ${failure}`
    return breaker.state(monotonicNow()) === 'open' ? 'it failed too many times in a row' : undefined
  }

  function isSlow({ firstWordMs = 0, samples, lastOutputAt }: HealthRecord): boolean {
    const { slow, cooldown } = settings()
    return samples >= minSamples && firstWordMs > slow && monotonicNow() - lastOutputAt < maxAgeCooldowns * cooldown
  }

  /** Rejects if the agent did not respond. */
  async function probeAgent(agent: string): Promise<void> {
    const runProbe = probe(agent)
    const record = recordOf(agent)
    const { instance: probed, failure: before } = record
    if (runProbe === undefined || closing.signal.aborted) return
    const limit = linkSignals([closing.signal], settings().timeout)
    try {
      await runProbe(limit.signal)
      if (record.instance !== probed) return
      record.failure = undefined
      if (before === undefined) return
      log.info('the health check of an agent succeeds again', { agent })
      onChange?.(agent)
    } catch (reason) {
      if (closing.signal.aborted || record.instance !== probed) return
      record.failure = operatorMessage(reason)
      if (before === undefined) log.warn('the health check of an agent failed', { agent, cause: record.failure })
      throw reason
    } finally {
      limit.end()
      if (record.instance === probed) record.askedAt = now()
    }
  }

  async function probeAll(): Promise<void> {
    for (const [agent, { retries }] of known) {
      if (names().includes(agent)) continue
      retries.close()
      known.delete(agent)
    }
    const checked = names().filter((agent) => isOpen(agent) && probe(agent) !== undefined)
    const due = checked.map(recordOf).filter(({ retries }) => !retries.isStopped)
    await Promise.all(due.map(({ retries }) => retries.run()))
  }

  /** While no agent has a probe, checks now and then whether that changed. */
  function scheduleProbe(): void {
    if (closing.signal.aborted) return
    const { every } = settings()
    const isProbing = Number.isFinite(every)
    const waitMs = isProbing ? jittered(every) : idleMs
    timer = setTimeout(() => void (isProbing ? probeAll() : Promise.resolve()).finally(scheduleProbe), waitMs).unref()
  }

  function wouldTake(agent: string): boolean {
    const record = recordOf(agent)
    return isOpen(agent) && record.failure === undefined && record.breaker.canAcquire(monotonicNow())
  }

  return {
    get(agent) {
      const record = recordOf(agent)
      const why = downReason(agent, record)
      const { firstWordMs, askedAt, failure, retries } = record
      return {
        state: why !== undefined ? 'down' : isSlow(record) ? 'slow' : 'up',
        ...(why !== undefined ? { why } : isSlow(record) ? { why: 'it is slow to respond' } : {}),
        breaker: record.breaker.state(monotonicNow()),
        ...(firstWordMs !== undefined ? { firstWordMs: Math.round(firstWordMs) } : {}),
        ...omitUndefined({ cause: failure, askedAt, retry: failure === undefined ? undefined : retries.state }),
      }
    },
    canAcquire: wouldTake,
    tryAcquire: (agent) => wouldTake(agent) && recordOf(agent).breaker.tryAcquire(monotonicNow()),
    observer: (agent) => ({
      onFirstOutput(ms) {
        const record = recordOf(agent)
        record.firstWordMs =
          record.firstWordMs === undefined ? ms : record.firstWordMs * (1 - smoothing) + ms * smoothing
        record.samples += 1
        record.lastOutputAt = monotonicNow()
      },
      onEnd(verdict) {
        const record = recordOf(agent)
        if (verdict === 'unhealthy') record.breaker.recordFailure(monotonicNow())
        // The result of the last probe may be outdated, such as after a model was removed: the next reader causes another probe.
        if (verdict !== 'healthy' && record.failure === undefined) record.askedAt = undefined
        if (verdict !== 'healthy') return
        record.breaker.recordSuccess()
        // A turn just succeeded, whatever the probe said.
        if (record.failure === undefined) return
        forgetFailure(record)
        onChange?.(agent)
      },
    }),
    probe: probeAll,
    async retryNow(agent) {
      if (isOpen(agent) && probe(agent) !== undefined) await recordOf(agent).retries.retryNow()
    },
    stopRetrying(agent) {
      // An agent that was never probed has no failure, and an unknown name gets no record.
      if (!known.has(agent)) return
      const { failure, retries } = recordOf(agent)
      if (failure !== undefined) retries.stop()
    },
    close() {
      closing.abort()
      for (const { retries } of known.values()) retries.close()
      clearTimeout(timer)
    },
  }
}

/**
 * Circuit breaker for an agent that fails repeatedly: after a number of consecutive failures it gets no delegated work for a while,
 * then one task, and all again once that has succeeded. Pure except for its state; the caller passes the time.
 */
/**
 * Circuit breaker for an agent that fails repeatedly: after a number of consecutive failures it gets no delegated work for a while,
 * then one task, and all again once that has succeeded. Pure except for its state; the caller passes the time.
 */
interface CircuitBreakerSettings {
  readonly failures: number
  readonly cooldownMs: number
}

export type CircuitBreakerState = 'closed' | 'open' | 'half-open'

export interface CircuitBreaker {
  state(now: number): CircuitBreakerState
  /** Whether work may be delegated now. When half open, the caller that gets `true` runs the trial. */
  tryAcquire(now: number): boolean
  /** The same, without starting the trial. */
  canAcquire(now: number): boolean
  recordSuccess(): void
  recordFailure(now: number): void
}

export function createCircuitBreaker(settings: () => CircuitBreakerSettings): CircuitBreaker {
  let consecutiveFailures = 0
  let openedAt: number | undefined
  /** When the running trial started. */
  let triedAt: number | undefined

  function state(now: number): CircuitBreakerState {
    if (openedAt === undefined) return 'closed'
    return now - openedAt < settings().cooldownMs ? 'open' : 'half-open'
  }

  /** A trial that never reports back expires. */
  function wouldTake(now: number): boolean {
    const at = state(now)
    return at === 'closed' || (at === 'half-open' && (triedAt === undefined || now - triedAt >= settings().cooldownMs))
  }

  return {
    state,
    canAcquire: wouldTake,
    tryAcquire(now) {
      if (!wouldTake(now)) return false
      if (openedAt !== undefined) triedAt = now
      return true
    },
    recordSuccess() {
      consecutiveFailures = 0
      openedAt = undefined
      triedAt = undefined
    },
    recordFailure(now) {
      consecutiveFailures += 1
      triedAt = undefined
      if (openedAt !== undefined || consecutiveFailures >= settings().failures) openedAt = now
    },
  }
}

// Observes the turns of an agent: time to the first output, and the health verdict. Transparent to the agent.

export interface TurnObserver {
  /** The time until the first output. */
  onFirstOutput(ms: number): void
  /** Called once per turn. */
  onEnd(verdict: HealthVerdict): void
}

export interface ObserverClock {
  readonly now: () => number
  readonly monotonicNow: () => number
}

export function observeAgent(agent: Agent, observer: TurnObserver, clock: ObserverClock): Agent {
  return wrapAgent(agent, (run) => (turn) => watchRun(run, turn, createTurnWatch(observer, turn, clock)))
}

function createTurnWatch(observer: TurnObserver, turn: Turn, { now, monotonicNow }: ObserverClock): RunWatcher {
  const startedAt = monotonicNow()
  let verdict: HealthVerdict | undefined
  let isOver = false
  let isListening = false
  let isSettled = false
  let hasOutput = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    if (isListening) turn.signal.removeEventListener('abort', onAbort)
    observer.onEnd(verdict ?? 'unknown')
  }
  const isTimedOut = (): boolean => turn.signal.aborted && verdictOnError(undefined, turn.signal) === 'unhealthy'
  const onAbort = (): void => {
    if (!isTimedOut()) return
    verdict = 'unhealthy'
    end()
  }
  return {
    // Keeps watching for a while: an agent that ignores its deadline is detected too. Only here: output that is read piece by piece
    // reports `onStop`, and a signal that no code uses need not be created, which took 4 µs of each task.
    onPending() {
      if (isListening) return
      isListening = true
      turn.signal.addEventListener('abort', onAbort)
    },
    onReport(report) {
      if (!hasOutput && isOutput(report)) {
        hasOutput = true
        observer.onFirstOutput(monotonicNow() - startedAt)
      }
      // The last report decides, and a failure is one.
      verdict = verdictOnReport(report)
      isSettled = typeof report === 'object' && ('reply' in report || ('state' in report && hasSettled(report.state)))
    },
    onStop() {
      if (isOver) return
      // The last report may have ended the turn. Otherwise the turn was stopped midway: by its deadline, or the verdict is unknown.
      if (!isSettled && verdict !== 'unhealthy') verdict = isTimedOut() ? 'unhealthy' : 'unknown'
      end()
    },
    onEnd() {
      // An agent that ends because its deadline aborted it has missed it. Before the deadline the signal is not looked at.
      const mayBeLate = turn.deadlineAt !== undefined && now() >= turn.deadlineAt
      verdict = mayBeLate && isTimedOut() ? 'unhealthy' : (verdict ?? 'healthy')
      end()
    },
    onError(reason) {
      verdict = verdictOnError(reason, turn.signal)
      end()
    },
  }
}

/** Whether the report has content for the caller. Status messages tell of work, and are often sent before it begins. */
function isOutput(report: Report | undefined): boolean {
  if (typeof report !== 'object') return report !== undefined
  return !('state' in report) || (report.state === 'TASK_STATE_COMPLETED' && report.message !== undefined)
}

/**
 * Whether a turn says something about the health of its agent; errors in the work itself do not.
 * `unknown`: for example canceled work, or work that the agent refused with a reason.
 */
export type HealthVerdict = 'healthy' | 'unhealthy' | 'unknown'

/** Another agent, or the same one later, might have succeeded. */
const agentFailureCodes: ReadonlySet<string> = new Set([
  'AGENT_UNAVAILABLE',
  'UNAVAILABLE',
  'UNAUTHENTICATED',
  'RATE_LIMITED',
  'TIMEOUT',
  'INTERRUPTED',
  'INTERNAL',
  'INVALID_AGENT_RESPONSE',
])

/** Takes an error code, or the metadata of a status. */
export function isAgentFailure(reason: unknown): boolean {
  return typeof reason === 'string' && agentFailureCodes.has(reason)
}

export function verdictOnReport(report: Report | undefined): HealthVerdict {
  if (typeof report !== 'object' || !('state' in report)) return 'healthy'
  if (report.state !== 'TASK_STATE_FAILED') return 'healthy'
  return isAgentFailure(report.metadata?.['reason']) ? 'unhealthy' : 'unknown'
}

export function verdictOnError(reason: unknown, signal: AbortSignal): HealthVerdict {
  if (signal.aborted)
    return signal.reason instanceof A2AError && signal.reason.code === 'TIMEOUT' ? 'unhealthy' : 'unknown'
  return isAgentFailure(A2AError.from(reason).code) ? 'unhealthy' : 'unknown'
}
