/**
 * Keeps one agent open: opens it, tries again if that fails, ever less often, and looks now and then at what it says of
 * itself. What was known stays known when a look fails.
 */
import { linkSignals } from '@parley/a2a'
import type { AgentLog } from '@parley/a2a'
import type { AgentKind, CardPart, KindParts, OpenAgent } from './agents/kind.ts'

/** Why an agent is not open, and when that changes at the earliest. For operators, not for callers. */
export interface StartError {
  readonly message: string
  /** When it was last tried. */
  readonly at: number
  readonly nextTryAt: number
}

export interface Keeper {
  /** Resolves when it is open, or could not be opened for the first time. Never rejects. */
  readonly tried: Promise<void>
  readonly open: OpenAgent | undefined
  /** Why it could not be opened; cleared when it opens. */
  readonly startError: StartError | undefined
  /** What it said of itself when it was last looked at. */
  readonly looked: CardPart | undefined
  /** Asks it again what it says of itself. */
  look(): Promise<void>
  close(): Promise<void>
}

export interface KeeperOptions {
  readonly kind: AgentKind
  readonly entry: unknown
  readonly parts: KindParts
  readonly log: AgentLog
  /** It is open now, or says something else of itself. */
  changed(): void
  /** Another try to open it has failed: `startError` is new. */
  failed?(): void
  readonly times?: Partial<KeeperTimes> | undefined
}

export interface KeeperTimes {
  readonly openMs: number
  readonly lookMs: number
  /** Between two looks. */
  readonly lookEveryMs: number
  readonly firstRetryMs: number
  readonly lastRetryMs: number
}

const usual: KeeperTimes = {
  openMs: 15_000,
  lookMs: 10_000,
  // As long as clients keep a card.
  lookEveryMs: 300_000,
  firstRetryMs: 1_000,
  lastRetryMs: 60_000,
}

export function keepAgent({ kind, entry, parts, log, changed, failed, ...given }: KeeperOptions): Keeper {
  const times = { ...usual, ...given.times }
  const closing = new AbortController()
  const { signal } = closing
  const about = { agent: parts.name, kind: kind.kind }
  let open: OpenAgent | undefined
  let startError: StartError | undefined
  let looked: CardPart | undefined
  let looking: Promise<void> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const later = (ms: number, then: () => void): number => {
    const delayMs = Math.round(ms * (0.75 + Math.random() / 2))
    if (!signal.aborted) timer = setTimeout(then, delayMs).unref()
    return delayMs
  }
  const tried = tryToOpen(times.firstRetryMs)

  async function tryToOpen(retryMs: number): Promise<void> {
    try {
      const made = await withinTime(callOpen(), times.openMs, closeLate)
      if (signal.aborted) return closeLate(made)
      open = made
      startError = undefined
      changed()
      void lookOn()
    } catch (cause) {
      if (signal.aborted) return
      log.error('the agent could not be opened; it will be tried again', { ...about, cause })
      const message = cause instanceof Error ? cause.message : String(cause)
      const at = parts.now()
      const delayMs = later(retryMs, () => void tryToOpen(Math.min(times.lastRetryMs, retryMs * 2)))
      startError = { message, at, nextTryAt: at + delayMs }
      failed?.()
    }
  }

  async function callOpen(): Promise<OpenAgent> {
    return kind.open(entry, { ...parts, lookAgain })
  }

  /** One that came too late is nobody's. */
  function closeLate(late: OpenAgent): void {
    void late.close?.().catch((cause: unknown) => log.warn('an agent could not be closed', { ...about, cause }))
  }

  async function lookOn(): Promise<void> {
    if (open?.look === undefined) return
    await look()
    later(times.lookEveryMs, () => void lookOn())
  }

  /** Whoever asks while a look is under way gets what that brings. */
  function look(): Promise<void> {
    return (looking ??= lookOnce().finally(() => (looking = undefined)))
  }

  /** A look that is under way may have seen what was before. */
  function lookAgain(): void {
    void Promise.resolve(looking).then(() => (signal.aborted ? undefined : look()))
  }

  async function lookOnce(): Promise<void> {
    const limit = linkSignals([signal], times.lookMs)
    try {
      const seen = await open?.look?.(limit.signal)
      if (seen === undefined || signal.aborted || JSON.stringify(seen) === JSON.stringify(looked)) return
      looked = seen
      changed()
    } catch (cause) {
      if (!signal.aborted) log.debug('what the agent says of itself could not be read', { ...about, cause })
    } finally {
      limit.end()
    }
  }

  return {
    tried,
    get open() {
      return open
    },
    get startError() {
      return startError
    },
    get looked() {
      return looked
    },
    look,
    async close() {
      if (signal.aborted) return
      closing.abort()
      clearTimeout(timer)
      // One that is still being opened is closed when it comes.
      await open?.close?.()
    },
  }
}

async function withinTime<T>(value: Promise<T>, limitMs: number, late: (value: T) => void): Promise<T> {
  const over = Promise.withResolvers<never>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    over.reject(new Error(`it took longer than ${limitMs / 1_000} s to open`))
  }, limitMs)
  value.then(
    (made) => isLate && late(made),
    () => {},
  )
  try {
    return await Promise.race([value, over.promise])
  } finally {
    clearTimeout(timer)
  }
}
