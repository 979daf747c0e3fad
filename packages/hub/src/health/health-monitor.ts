/**
 * The health of the agents of the hub, from their probes and from the results of their turns. In memory: after a restart it is
 * measured again.
 */
import { linkSignals, omitUndefined, type AgentLog } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'
import type { TurnObserver } from './observe-agent.ts'

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
  readonly log: AgentLog
  readonly now: () => number
  /** For the circuit breaker and the age of results. Default: `now`. */
  readonly monotonicNow?: () => number
}

export interface AgentHealth {
  readonly state: 'up' | 'slow' | 'down'
  /** Why it is not up. For operators. */
  readonly why?: string
  readonly breaker: CircuitBreakerState
  /** Average time to the first report, if known. */
  readonly firstWordMs?: number
  /** The time of the last probe, answered or not. */
  readonly askedAt?: number
}

export interface HealthMonitor {
  get(agent: string): AgentHealth
  /** Whether work may be delegated to it now; for an agent that was down, the caller that gets `true` runs the trial. */
  tryAcquire(agent: string): boolean
  canAcquire(agent: string): boolean
  /** The observer for the turns of an agent. */
  observer(agent: string): TurnObserver
  /** Probes all agents now. */
  probe(): Promise<void>
  close(): void
}

interface HealthRecord {
  readonly breaker: CircuitBreaker
  failure?: string | undefined
  askedAt?: number
  firstWordMs?: number
  samples: number
  lastReportAt: number
}

/** The weight of a new time against the previous average. */
const smoothing = 0.3
const minSamples = 3
/** Results older than this many cooldowns are ignored. */
const maxAgeCooldowns = 10
const idleMs = 60_000

export function createHealthMonitor({
  settings,
  names,
  isOpen,
  probe,
  log,
  ...clock
}: HealthMonitorDeps): HealthMonitor {
  const { now, monotonicNow } = clockOf(clock)
  const known = new Map<string, HealthRecord>()
  const closing = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  scheduleProbe()

  function recordOf(agent: string): HealthRecord {
    const breaker = (): CircuitBreaker =>
      createCircuitBreaker(() => ({ failures: settings().failures, cooldownMs: settings().cooldown }))
    const found = known.get(agent) ?? { breaker: breaker(), samples: 0, lastReportAt: 0 }
    known.set(agent, found)
    return found
  }

  function downReason(agent: string, { breaker, failure }: HealthRecord): string | undefined {
    if (!isOpen(agent)) return 'it is unavailable'
    if (failure !== undefined) return `it cannot be reached: ${failure}`
    return breaker.state(monotonicNow()) === 'open' ? 'it failed too many times in a row' : undefined
  }

  function isSlow({ firstWordMs = 0, samples, lastReportAt }: HealthRecord): boolean {
    const { slow, cooldown } = settings()
    return samples >= minSamples && firstWordMs > slow && monotonicNow() - lastReportAt < maxAgeCooldowns * cooldown
  }

  async function probeAgent(agent: string): Promise<void> {
    const runProbe = probe(agent)
    if (runProbe === undefined) return
    const record = recordOf(agent)
    const before = record.failure
    const limit = linkSignals([closing.signal], settings().timeout)
    try {
      await runProbe(limit.signal)
      record.failure = undefined
    } catch (reason) {
      if (closing.signal.aborted) return
      record.failure = reason instanceof Error ? reason.message : String(reason)
    } finally {
      limit.end()
    }
    record.askedAt = now()
    if ((before === undefined) === (record.failure === undefined)) return
    log[record.failure === undefined ? 'info' : 'warn'](
      record.failure === undefined ? 'an agent can be reached again' : 'an agent cannot be reached',
      { agent, ...omitUndefined({ cause: record.failure }) },
    )
  }

  async function probeAll(): Promise<void> {
    for (const agent of known.keys()) if (!names().includes(agent)) known.delete(agent)
    await Promise.all(names().filter(isOpen).map(probeAgent))
  }

  /** While no agent has a probe, checks now and then whether that changed. */
  function scheduleProbe(): void {
    if (closing.signal.aborted) return
    const { every } = settings()
    const isProbing = Number.isFinite(every)
    const waitMs = isProbing ? every * (0.75 + Math.random() / 2) : idleMs
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
      const { firstWordMs, askedAt } = record
      return {
        state: why !== undefined ? 'down' : isSlow(record) ? 'slow' : 'up',
        ...(why !== undefined ? { why } : isSlow(record) ? { why: 'it is slow to respond' } : {}),
        breaker: record.breaker.state(monotonicNow()),
        ...(firstWordMs !== undefined ? { firstWordMs: Math.round(firstWordMs) } : {}),
        ...omitUndefined({ askedAt }),
      }
    },
    canAcquire: wouldTake,
    tryAcquire: (agent) => wouldTake(agent) && recordOf(agent).breaker.tryAcquire(monotonicNow()),
    observer: (agent) => ({
      onFirstReport(ms) {
        const record = recordOf(agent)
        record.firstWordMs =
          record.firstWordMs === undefined ? ms : record.firstWordMs * (1 - smoothing) + ms * smoothing
        record.samples += 1
        record.lastReportAt = monotonicNow()
      },
      onEnd(verdict) {
        const record = recordOf(agent)
        if (verdict === 'unhealthy') record.breaker.recordFailure(monotonicNow())
        if (verdict !== 'healthy') return
        record.breaker.recordSuccess()
        // A turn just succeeded, whatever the probe said.
        record.failure = undefined
      },
    }),
    probe: probeAll,
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}

interface CircuitBreakerSettings {
  readonly failures: number
  readonly cooldownMs: number
}

type CircuitBreakerState = 'closed' | 'open' | 'half-open'

/**
 * Circuit breaker for an agent that fails repeatedly: after a number of consecutive failures it gets no delegated work for a while,
 * then one task, and all again once that has succeeded. Pure except for its state; the caller passes the time.
 */
interface CircuitBreaker {
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
