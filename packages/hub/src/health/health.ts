/**
 * How the agents of the hub are, by what they answer when they are asked and by what becomes of the work that they are given.
 * In memory: what a restart forgets is found out again.
 */
import { linkSignals } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import { clockOf } from '@parley/a2a/server'
import { createBreaker } from './breaker.ts'
import type { Breaker, BreakerState } from './breaker.ts'
import type { Observer } from './observe.ts'

export interface HealthSettings {
  readonly every: number
  readonly timeout: number
  readonly slow: number
  readonly failures: number
  readonly rest: number
}

export interface HealthParts {
  settings(): HealthSettings
  names(): readonly string[]
  isOpen(agent: string): boolean
  /** How to ask it; nothing for one that cannot be asked. */
  probe(agent: string): ((signal: AbortSignal) => Promise<void>) | undefined
  readonly log: AgentLog
  readonly now: () => number
  /** For the circuit breaker and what is remembered of an agent. Default: `now`. */
  readonly monotonicNow?: () => number
}

export interface AgentHealth {
  readonly state: 'up' | 'slow' | 'down'
  /** Why it is not up. For whoever runs the hub. */
  readonly why?: string
  readonly breaker: BreakerState
  /** Usual time to the first word, if it is known. */
  readonly firstWordMs?: number
  /** When it was last asked, and answered or not. */
  readonly askedAt?: number
}

export interface Health {
  of(agent: string): AgentHealth
  /** Whether work may be handed on to it now; of one that was down, whoever is told so finds out. */
  take(agent: string): boolean
  wouldTake(agent: string): boolean
  /** For the turns of an agent. */
  observer(agent: string): Observer
  /** Asks all that can be asked, now. */
  probe(): Promise<void>
  close(): void
}

interface Known {
  readonly breaker: Breaker
  trouble?: string | undefined
  askedAt?: number
  firstWordMs?: number
  samples: number
  heardAt: number
}

/** How much a new time counts against those before. */
const share = 0.3
const fewest = 3
/** What nobody has seen for so many rests is not believed any more. */
const forgottenRests = 10
const idleMs = 60_000

export function createHealth({ settings, names, isOpen, probe, log, ...clock }: HealthParts): Health {
  const { now, monotonicNow } = clockOf(clock)
  const known = new Map<string, Known>()
  const closing = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  later()

  function about(agent: string): Known {
    const breaker = (): Breaker => createBreaker(() => ({ failures: settings().failures, restMs: settings().rest }))
    const found = known.get(agent) ?? { breaker: breaker(), samples: 0, heardAt: 0 }
    known.set(agent, found)
    return found
  }

  function whatIsWrong(agent: string, { breaker, trouble }: Known): string | undefined {
    if (!isOpen(agent)) return 'it is not open'
    if (trouble !== undefined) return `it cannot be reached: ${trouble}`
    return breaker.state(monotonicNow()) === 'open' ? 'it failed too often in a row' : undefined
  }

  function isSlow({ firstWordMs = 0, samples, heardAt }: Known): boolean {
    const { slow, rest } = settings()
    return samples >= fewest && firstWordMs > slow && monotonicNow() - heardAt < forgottenRests * rest
  }

  async function ask(agent: string): Promise<void> {
    const asking = probe(agent)
    if (asking === undefined) return
    const it = about(agent)
    const before = it.trouble
    const limit = linkSignals([closing.signal], settings().timeout)
    try {
      await asking(limit.signal)
      it.trouble = undefined
    } catch (reason) {
      if (closing.signal.aborted) return
      it.trouble = reason instanceof Error ? reason.message : String(reason)
    } finally {
      limit.end()
    }
    it.askedAt = now()
    if ((before === undefined) === (it.trouble === undefined)) return
    log[it.trouble === undefined ? 'info' : 'warn'](
      it.trouble === undefined ? 'an agent can be reached again' : 'an agent cannot be reached',
      { agent, ...(it.trouble !== undefined ? { cause: it.trouble } : {}) },
    )
  }

  async function askAll(): Promise<void> {
    for (const agent of known.keys()) if (!names().includes(agent)) known.delete(agent)
    await Promise.all(names().filter(isOpen).map(ask))
  }

  /** Where nobody is to be asked, it is looked now and then whether that still holds. */
  function later(): void {
    if (closing.signal.aborted) return
    const { every } = settings()
    const asks = Number.isFinite(every)
    const waitMs = asks ? every * (0.75 + Math.random() / 2) : idleMs
    timer = setTimeout(() => void (asks ? askAll() : Promise.resolve()).finally(later), waitMs).unref()
  }

  function wouldTake(agent: string): boolean {
    const it = about(agent)
    return isOpen(agent) && it.trouble === undefined && it.breaker.wouldTake(monotonicNow())
  }

  return {
    of(agent) {
      const it = about(agent)
      const why = whatIsWrong(agent, it)
      const { firstWordMs, askedAt } = it
      return {
        state: why !== undefined ? 'down' : isSlow(it) ? 'slow' : 'up',
        ...(why !== undefined ? { why } : isSlow(it) ? { why: 'it takes long to answer' } : {}),
        breaker: it.breaker.state(monotonicNow()),
        ...(firstWordMs !== undefined ? { firstWordMs: Math.round(firstWordMs) } : {}),
        ...(askedAt !== undefined ? { askedAt } : {}),
      }
    },
    wouldTake,
    take: (agent) => wouldTake(agent) && about(agent).breaker.take(monotonicNow()),
    observer: (agent) => ({
      firstWord(ms) {
        const it = about(agent)
        it.firstWordMs = it.firstWordMs === undefined ? ms : it.firstWordMs * (1 - share) + ms * share
        it.samples += 1
        it.heardAt = monotonicNow()
      },
      ended(verdict) {
        const it = about(agent)
        if (verdict === 'ill') it.breaker.failed(monotonicNow())
        if (verdict !== 'well') return
        it.breaker.succeeded()
        // It was just seen at work, whatever it answered when it was asked.
        it.trouble = undefined
      },
    }),
    probe: askAll,
    close() {
      closing.abort()
      clearTimeout(timer)
    },
  }
}
