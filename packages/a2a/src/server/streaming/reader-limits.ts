/**
 * Counts the bytes that are held for readers until they take them, per caller and for the server. Nothing is queued: a reader
 * pulls, so it holds one batch and one frame. But a frame may be 18 MB, and there may be thousands of readers. Over the budget the
 * server stops pulling for readers; they keep what they hold until they take it or stall.
 *
 * Bytes that several readers share count once. A part beyond the server's budget is reserved for callers that hold little: a few
 * callers that take large responses slowly, or not at all, must not block the short events of all others.
 */
import { A2AError } from '../../model/error.ts'
import { firstHeavyStep, heavyStep, isHeavy, type NextStep } from '../../model/heavy-step.ts'
import { maxTimerMs } from '../../model/clock.ts'

export interface UnsentLimits {
  readonly unsentBytes: number
  readonly unsentBytesPerCaller: number
}

export interface ReaderCounts {
  /** Bytes held for readers now. Bytes that several readers share count once. */
  readonly unsentBytes: number
  /** Readers that wait because their caller, or the server, is over its budget. */
  readonly paused: number
  /** Readers disconnected since the start because they took nothing for too long. */
  readonly disconnected: number
}

export interface UnsentBytes extends ReaderCounts {
  /** Opens an account for one reader of this caller. Closing it releases what it still holds. */
  open(caller: string): ReaderAccount
  /** Call it when a reader was disconnected because it stalled. */
  stalled(): void
}

interface HeldBytes {
  readonly bytes: number
  readers: number
  readonly byCaller: Map<CallerAccount, number>
}

interface CallerAccount {
  readonly caller: string
  bytes: number
  readers: number
}

interface PausedReader {
  readonly account: CallerAccount
  readonly need: Need
  resume(): void
}

/** `hold`: a large item. `pull`: the next events, which may be short. */
type Need = 'hold' | 'pull'

/** Share of the server's budget, on top of it, for callers that hold little. */
const reserveShare = 1 / 4
/** Share of a caller's budget that counts as little. */
const littleShare = 1 / 64

/** A value that is read and encoded takes three times its bytes: what the store returned, the value, and its JSON. At most this more. */
const maxExtraBytes = 48_000_000

const runNextTurn: (run: () => void) => void =
  typeof setImmediate === 'function' ? (run) => void setImmediate(run) : (run) => void setTimeout(run, 0)

export function createUnsentBytes(limits: UnsentLimits): UnsentBytes {
  const budget = new Budget(limits)
  return {
    open: (caller) => new ReaderAccount(budget, budget.open(caller)),
    stalled: () => void (budget.disconnected += 1),
    get unsentBytes() {
      return budget.total
    },
    get paused() {
      return budget.paused.size
    },
    get disconnected() {
      return budget.disconnected
    },
  }
}

class Budget {
  total = 0
  disconnected = 0
  readonly paused = new Set<PausedReader>()
  readonly held = new Map<object, HeldBytes>()
  readonly #limits: UnsentLimits
  readonly #callers = new Map<string, CallerAccount>()
  #waking = false

  constructor(limits: UnsentLimits) {
    this.#limits = limits
  }

  open(caller: string): CallerAccount {
    let account = this.#callers.get(caller)
    if (account === undefined) this.#callers.set(caller, (account = { caller, bytes: 0, readers: 0 }))
    account.readers += 1
    return account
  }

  close(account: CallerAccount): void {
    account.readers -= 1
    if (account.readers === 0) this.#callers.delete(account.caller)
  }

  /** A caller that holds nothing may always hold one more item, however large, unless the server is over its budget. */
  canHold(account: CallerAccount, what: object | undefined): boolean {
    const held = what === undefined ? undefined : this.held.get(what)
    if (held?.byCaller.has(account) === true) return true
    if (account.bytes >= this.#limits.unsentBytesPerCaller) return false
    return held !== undefined || this.total < this.#limits.unsentBytes
  }

  /** Whether the next events may be pulled: while the server is full, only by a caller that holds little. */
  canPull(account: CallerAccount): boolean {
    const { unsentBytes, unsentBytesPerCaller } = this.#limits
    if (this.canHold(account, undefined)) return true
    return account.bytes < unsentBytesPerCaller * littleShare && this.total < unsentBytes * (1 + reserveShare)
  }

  count(account: CallerAccount, bytes: number): void {
    account.bytes += bytes
    this.total += bytes
    if (bytes < 0) this.wake()
  }

  hold(account: CallerAccount, what: object, bytes: number): void {
    let held = this.held.get(what)
    if (held === undefined) {
      this.held.set(what, (held = { bytes, readers: 0, byCaller: new Map<CallerAccount, number>() }))
      this.total += bytes
    }
    held.readers += 1
    const own = held.byCaller.get(account) ?? 0
    if (own === 0) account.bytes += held.bytes
    held.byCaller.set(account, own + 1)
  }

  release(account: CallerAccount, what: object): void {
    const held = this.held.get(what)
    const own = held?.byCaller.get(account)
    if (held === undefined || own === undefined) return
    held.readers -= 1
    if (own > 1) held.byCaller.set(account, own - 1)
    else {
      held.byCaller.delete(account)
      account.bytes -= held.bytes
    }
    if (held.readers === 0) {
      this.held.delete(what)
      this.total -= held.bytes
    }
    this.wake()
  }

  /** Resumes one reader per turn of the event loop: what it will hold is known only afterwards. */
  wake(): void {
    if (this.paused.size === 0 || this.#waking) return
    this.#waking = true
    runNextTurn(() => {
      this.#waking = false
      for (const one of this.paused) {
        const { account, need } = one
        if (!(need === 'pull' ? this.canPull(account) : this.canHold(account, undefined))) continue
        this.paused.delete(one)
        one.resume()
        return this.wake()
      }
    })
  }
}

/** Ends work whose result has no recipient. */
export function requirePresent(signal: AbortSignal): void {
  if (signal.aborted) throw new A2AError('UNAVAILABLE', 'The client has disconnected')
}

/** The bytes that one reader holds. */
export class ReaderAccount {
  readonly #budget: Budget
  readonly #account: CallerAccount
  /** Created on first use: most readers never hold anything that is counted. */
  #holds: Set<object> | undefined
  #own = 0
  #paused: PausedReader | undefined
  #closed = false

  constructor(budget: Budget, account: CallerAccount) {
    this.#budget = budget
    this.#account = account
  }

  /** Whether the reader may hold more, or this item, which other readers may hold already. */
  canHold(what?: object): boolean {
    return this.#budget.canHold(this.#account, what)
  }

  /** Whether the reader's next events may be pulled. A large one may still have to wait. */
  canPull(): boolean {
    return this.#budget.canPull(this.#account)
  }

  /** Sets the number of bytes that only this reader holds. */
  setOwnBytes(bytes: number): void {
    if (bytes === this.#own || this.#closed) return
    this.#budget.count(this.#account, bytes - this.#own)
    this.#own = bytes
  }

  /** Holding the same item again has no effect. */
  hold(what: object, bytes: number): void {
    if (this.#closed || this.#holds?.has(what) === true) return
    this.#holds ??= new Set()
    this.#holds.add(what)
    this.#budget.hold(this.#account, what, bytes)
  }

  release(what: object): void {
    if (this.#holds?.delete(what) === true) this.#budget.release(this.#account, what)
  }

  /** Sets the bytes that only this reader holds, as soon as its caller has room for them. Rejects if the signal aborts first. */
  async reserve(bytes: number, signal: AbortSignal): Promise<void> {
    this.setOwnBytes(0)
    while (!signal.aborted && !this.canHold()) await this.waitForRoom(signal)
    requirePresent(signal)
    this.setOwnBytes(bytes)
  }

  /**
   * Reserves memory for a large value that is to be read, and waits for its first step if it needs any. Returns the steps in which to read and to
   * encode it. Without `waits` it reserves the memory at once.
   */
  async admitRead(bytes: number, signal: AbortSignal, waits = true): Promise<NextStep> {
    const needed = bytes + Math.min(bytes * 2, maxExtraBytes)
    if (waits) await this.reserve(needed, signal)
    else this.setOwnBytes(needed)
    // A task of 100 kB is read in a few milliseconds, and must not wait for those of megabytes.
    if (isHeavy(bytes)) await firstHeavyStep(this.#account.caller)
    requirePresent(signal)
    return () => this.nextStep()
  }

  /** The steps of work for this reader alone: the work ends when the reader leaves. */
  stepsWhilePresent(signal: AbortSignal): NextStep {
    return async () => {
      await this.nextStep()
      requirePresent(signal)
    }
  }

  /** Whether bytes are counted that only this reader holds. */
  get holdsOwnBytes(): boolean {
    return this.#own > 0
  }

  /** Resolves when the next step of heavy work for this reader may run. */
  nextStep(): Promise<void> {
    return heavyStep(this.#account.caller)
  }

  get isPaused(): boolean {
    return this.#paused !== undefined
  }

  /** Calls `resume` once there may be room. */
  pause(resume: () => void, need: Need = 'hold'): void {
    if (this.#paused !== undefined || this.#closed) return
    this.#paused = {
      account: this.#account,
      need,
      resume: () => {
        this.#paused = undefined
        resume()
      },
    }
    this.#budget.paused.add(this.#paused)
    // The budget may have room again since it was checked.
    this.#budget.wake()
  }

  /** Resolves once there may be room, or when the signal aborts. */
  waitForRoom(signal: AbortSignal, need: Need = 'hold'): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done)
        this.#stopWaiting()
        resolve()
      }
      if (signal.aborted) return resolve()
      signal.addEventListener('abort', done, { once: true })
      this.pause(done, need)
    })
  }

  close(): void {
    if (this.#closed) return
    this.setOwnBytes(0)
    for (const what of this.#holds ?? []) this.release(what)
    this.#stopWaiting()
    this.#closed = true
    this.#budget.close(this.#account)
  }

  #stopWaiting(): void {
    if (this.#paused !== undefined) this.#budget.paused.delete(this.#paused)
    this.#paused = undefined
  }
}

// How many open streams a caller may have, so that one cannot take them all (B-170).

export interface StreamLimits {
  /** Throws RATE_LIMITED. Returns a function that releases the slot; later calls of it do nothing. */
  acquire(callerId: string, agent: string): () => void
  /** Open streams of all callers: of one agent, or of all agents. */
  openStreams(agent?: string): number
}

export function createStreamLimits(most: number): StreamLimits {
  const taken = new Map<string, number>()
  const served = new Map<string, number>()
  let all = 0
  return {
    openStreams: (agent) => (agent === undefined ? all : (served.get(agent) ?? 0)),
    acquire(callerId, agent) {
      const count = taken.get(callerId) ?? 0
      if (count >= most) throw new A2AError('RATE_LIMITED', `At most ${most} streams may be open at one time`)
      taken.set(callerId, count + 1)
      served.set(agent, (served.get(agent) ?? 0) + 1)
      all += 1
      let held = true
      return () => {
        if (!held) return
        held = false
        all -= 1
        served.set(agent, (served.get(agent) ?? 1) - 1)
        const left = (taken.get(callerId) ?? 1) - 1
        if (left > 0) taken.set(callerId, left)
        else taken.delete(callerId)
      }
    },
  }
}

// How long the server waits for a reader that takes nothing. Measured by several checks, never by one timer or the clock: after the
// process stood still (a busy loop, a debugger, a sleeping machine) timers run before pending input is read, and every reader would
// be disconnected for a pause of the server itself. Such a pause costs only one of the checks.

export const checksPerStall = 4

/** Lower bound for any setting, so that checks do not become most of the work. */
const minCheckMs = 20

export function stallCheckIntervalMs(stallMs: number): number {
  return Math.min(Math.max(minCheckMs, stallMs / checksPerStall), maxTimerMs)
}

/** Calls `cut` after `stallMs`, unless canceled. If `progress` has changed by then, the time starts again. */
export function startStallTimer(stallMs: number, cut: () => void, progress?: () => unknown): () => void {
  let looks = 0
  let last = progress?.()
  const timer = setInterval(() => {
    const now = progress?.()
    looks = now === last ? looks + 1 : 0
    last = now
    if (looks !== checksPerStall) return
    clearInterval(timer)
    cut()
  }, stallCheckIntervalMs(stallMs))
  // A reader that is gone must not keep the process alive.
  ;(timer as { unref?(): unknown }).unref?.()
  return () => clearInterval(timer)
}

/** The used part of a socket. `_handle` is internal to Node and has the number of bytes that the system has not taken yet. */
export interface SocketProgress {
  readonly bytesWritten?: number
  readonly writableLength?: number
  readonly _handle?: { readonly writeQueueSize?: number } | null
}

/** How many bytes the system has taken so far, including a part of one large write. */
export function bytesSent(socket: SocketProgress | null | undefined): number {
  const { bytesWritten = 0, writableLength = 0, _handle: handle } = socket ?? {}
  return bytesWritten - writableLength - (handle?.writeQueueSize ?? 0)
}
