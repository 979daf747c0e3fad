/**
 * Whether this process can serve, for load balancers that poll `/readyz`. Any client may ask often, so only one check of the store
 * runs at a time and its result is cached briefly. A store that does not answer in time counts as not writable.
 */
import { systemClock } from '../../model/clock.ts'
import { A2AError } from '../../model/error.ts'
import type { EngineLog } from '../../engine/contract.ts'
import type { Store } from '../options.ts'

/**
 * In `starting` requests wait, and in `stopped` they are refused. In `leaving` the server serves but reports that it is not ready.
 */
export interface Readiness {
  readonly state: 'starting' | 'ready' | 'leaving' | 'stopped'
  /** The start; if it fails, the server is never ready. */
  readonly ready: Promise<void>
  isReady(): Promise<boolean>
}

/** Throws UNAVAILABLE if the server cannot start. */
export async function waitUntilStarted({ ready }: Readiness): Promise<void> {
  try {
    await ready
  } catch {
    throw new A2AError('UNAVAILABLE', 'The server could not start')
  }
}

export interface StoreCheckOptions {
  readonly monotonicNow?: () => number
  /** How long the store may take to answer. A slow store is still ready: removing a busy server would make the others busier. */
  readonly timeoutMs?: number
  /** How long a result is cached. */
  readonly freshMs?: number
  /** Logs why the store is not writable, and when it is again. */
  readonly log?: Pick<EngineLog, 'warn' | 'info'>
}

export function createStoreCheck(store: Store, options: StoreCheckOptions = {}): () => Promise<boolean> {
  const { monotonicNow: now = systemClock.monotonicNow, timeoutMs = 2_000, freshMs = 500, log } = options
  let wasReady = true
  let asked: { readonly at: number; readonly answer: Promise<boolean> } | undefined
  let isUnderway = false
  let asking: Promise<unknown> | undefined

  return () => {
    if (store.ready === undefined) return Promise.resolve(true)
    if (asked === undefined || (!isUnderway && now() - asked.at > freshMs)) asked = { at: now(), answer: ask() }
    return asked.answer
  }

  function ask(): Promise<boolean> {
    isUnderway = true
    return new Promise((resolve) => {
      let isAnswered = false
      const late = setTimeout(() => answered(false, new Error(`no response within ${timeoutMs} ms`)), timeoutMs)
      askStore().then(
        () => answered(true),
        (cause: unknown) => answered(false, cause),
      )
      function answered(isReady: boolean, cause?: unknown): void {
        clearTimeout(late)
        isUnderway = false
        if (!isAnswered) logChange(isReady, cause)
        isAnswered = true
        resolve(isReady)
      }
    })
  }

  function logChange(isReady: boolean, cause: unknown): void {
    if (isReady === wasReady) return
    wasReady = isReady
    if (isReady) log?.info('the store is writable again: ready')
    else log?.warn('the store is not writable: not ready', { cause })
  }

  /** A store that hangs is asked once, however many checks arrive: each may hold a connection. */
  function askStore(): Promise<unknown> {
    // A store that throws instead of rejecting has not answered either.
    asking ??= Promise.resolve()
      .then(() => store.ready?.())
      .finally(() => (asking = undefined))
    return asking
  }
}
