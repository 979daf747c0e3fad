/**
 * Whether this process can serve, for whoever routes by `/readyz`. It is asked by anybody and often, so the store is asked
 * by one at a time and its word counts for a moment. A store that does not answer in time is one that cannot be written.
 */
import { systemClock } from '../model/clock.ts'
import { later } from '../engine/later.ts'
import type { EngineLog } from '../engine/contract.ts'
import type { Store } from './options.ts'

/** `starting` and `stopped` keep callers waiting or away; one that is `leaving` serves and says that it is not ready. */
export interface Readiness {
  readonly state: 'starting' | 'ready' | 'leaving' | 'stopped'
  /** Of the start: one that failed is never ready. */
  readonly ready: Promise<void>
  isReady(): Promise<boolean>
}

export interface StoreCheckOptions {
  readonly monotonicNow?: () => number
  /** How long the store may take to answer. Slow is not gone: to take a busy server out would make the others busier. */
  readonly patienceMs?: number
  /** For how long an answer counts. */
  readonly freshMs?: number
  /** Logs why the store cannot be written, and when it can be again. */
  readonly log?: Pick<EngineLog, 'warn' | 'info'>
}

export function createStoreCheck(store: Store, options: StoreCheckOptions = {}): () => Promise<boolean> {
  const { monotonicNow: now = systemClock.monotonicNow, patienceMs = 2_000, freshMs = 500, log } = options
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
      const late = later(patienceMs, () => answered(false, new Error(`no answer within ${patienceMs} ms`)))
      askStore().then(
        () => answered(true),
        (cause: unknown) => answered(false, cause),
      )
      function answered(isReady: boolean, cause?: unknown): void {
        late.cancel()
        isUnderway = false
        if (!isAnswered) tell(isReady, cause)
        isAnswered = true
        resolve(isReady)
      }
    })
  }

  function tell(isReady: boolean, cause: unknown): void {
    if (isReady === wasReady) return
    wasReady = isReady
    if (isReady) log?.info('the store can be written again: ready')
    else log?.warn('the store cannot be written: not ready', { cause })
  }

  /** A store that hangs is asked once, however often we are: each question may hold a connection. */
  function askStore(): Promise<unknown> {
    // One that throws instead of rejecting has not answered either.
    asking ??= Promise.resolve()
      .then(() => store.ready?.())
      .finally(() => (asking = undefined))
    return asking
  }
}
