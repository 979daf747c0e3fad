/** Aborts an exchange if the other side sends nothing for too long. */
import { A2AError, linkSignals } from '@parley/a2a'

export interface IdleTimeout {
  /** Aborted by the caller, or by the timeout. */
  readonly signal: AbortSignal
  readonly touch: () => void
  /** Why an exchange failed: the caller aborted, the timeout, or the error itself. */
  errorFor(reason: unknown): Error
  end(): void
}

export function createIdleTimeout(limitMs: number, callerSignal: AbortSignal): IdleTimeout {
  const { signal, abort, end } = linkSignals([callerSignal])
  const timeoutError = new A2AError(
    'TIMEOUT',
    'The model has not answered in time',
    {},
    {
      cause: new Error(`no data received for ${limitMs} ms`),
    },
  )
  const timer = setTimeout(() => abort(timeoutError), limitMs)
  return {
    signal,
    touch: () => void timer.refresh(),
    errorFor(reason) {
      if (callerSignal.aborted) return callerSignal.reason as Error
      return signal.aborted ? timeoutError : (reason as Error)
    },
    end() {
      clearTimeout(timer)
      end()
    },
  }
}
