/** Waits with a time limit, and why they end. */
import { setTimeout as wait } from 'node:timers/promises'
import { A2AError } from '@parley/a2a'
import { linkSignals } from '@parley/a2a/internal'

/** Rejects with the reason of the signal as soon as it aborts, instead of Node's own error. */
export async function abortableSleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}

/** Waits, or until the signal aborts. Never rejects: callers check the signal themselves. */
export async function quietSleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {})
}

/** True if the caller canceled or the turn timed out; false if this process is shutting down. */
export function isCanceledOrTimedOut({ reason }: AbortSignal): boolean {
  return reason instanceof A2AError && (reason.code === 'CANCELED' || reason.code === 'TIMEOUT')
}

/** A time limit that can be paused while another party is awaited. */
export interface PausableTimeout {
  /** Aborted with `parentSignal`, or when the time is up. */
  readonly signal: AbortSignal
  /** Nests: continues after as many calls of `resume`. */
  pause(): void
  resume(): void
  /** Why the work ended early: the parent aborted, the timeout, or its own error. */
  errorFor(reason: unknown): Error
  end(): void
}

/** `Infinity` means no limit. */
export function createPausableTimeout(limitMs: number, parentSignal: AbortSignal): PausableTimeout {
  const { signal, abort, end } = linkSignals([parentSignal])
  const timeoutError = new A2AError('TIMEOUT', `It took longer than ${limitMs} ms`)
  let leftMs = limitMs
  let pauses = 0
  let isOver = false
  let since = performance.now()
  let timer = start()

  function start(): NodeJS.Timeout | undefined {
    since = performance.now()
    return Number.isFinite(leftMs) ? setTimeout(() => abort(timeoutError), leftMs) : undefined
  }

  return {
    signal,
    pause() {
      pauses += 1
      if (pauses > 1) return
      clearTimeout(timer)
      leftMs -= performance.now() - since
    },
    resume() {
      pauses -= 1
      if (pauses === 0 && !isOver) timer = start()
    },
    errorFor(reason) {
      if (parentSignal.aborted) return parentSignal.reason as Error
      return signal.aborted ? timeoutError : (reason as Error)
    },
    end() {
      isOver = true
      clearTimeout(timer)
      end()
    },
  }
}
