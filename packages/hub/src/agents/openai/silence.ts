/** Ends an exchange in which the other side has said nothing for too long. */
import { A2AError } from '@parley/a2a'

export interface Silence {
  /** Of the caller, or because of the silence. */
  readonly signal: AbortSignal
  readonly heard: () => void
  /** What an exchange that broke is to be blamed on: the caller's going, the silence, or itself. */
  reasonFor(reason: unknown): Error
  end(): void
}

export function watchSilence(limitMs: number, leaving: AbortSignal): Silence {
  const enough = new AbortController()
  const silent = new A2AError(
    'TIMEOUT',
    'The model has not answered in time',
    {},
    {
      cause: new Error(`nothing was heard for ${limitMs} ms`),
    },
  )
  const timer = setTimeout(() => enough.abort(silent), limitMs)
  return {
    signal: AbortSignal.any([leaving, enough.signal]),
    heard: () => void timer.refresh(),
    reasonFor(reason) {
      if (leaving.aborted) return leaving.reason as Error
      return enough.signal.aborted ? silent : (reason as Error)
    },
    end: () => clearTimeout(timer),
  }
}
