/** Ends an exchange in which the other side has said nothing for too long. */
import { A2AError, linkSignals } from '@parley/a2a'

export interface Silence {
  /** Of the caller, or because of the silence. */
  readonly signal: AbortSignal
  readonly heard: () => void
  /** What an exchange that broke is to be blamed on: the caller's going, the silence, or itself. */
  reasonFor(reason: unknown): Error
  end(): void
}

export function watchSilence(limitMs: number, leaving: AbortSignal): Silence {
  const { signal, abort, end } = linkSignals([leaving])
  const silent = new A2AError(
    'TIMEOUT',
    'The model has not answered in time',
    {},
    {
      cause: new Error(`nothing was heard for ${limitMs} ms`),
    },
  )
  const timer = setTimeout(() => abort(silent), limitMs)
  return {
    signal,
    heard: () => void timer.refresh(),
    reasonFor(reason) {
      if (leaving.aborted) return leaving.reason as Error
      return signal.aborted ? silent : (reason as Error)
    },
    end() {
      clearTimeout(timer)
      end()
    },
  }
}
