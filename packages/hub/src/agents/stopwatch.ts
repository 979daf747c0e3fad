/** A limit on how long something may take, that stands still while somebody else is waited for. */
import { A2AError, linkSignals } from '@parley/a2a'

export interface Stopwatch {
  /** Aborted with `leaving`, or when the time is up. */
  readonly signal: AbortSignal
  /** As often as it is told to go again. */
  pause(): void
  go(): void
  /** What whatever ended early is to be blamed on: whoever left, the time, or itself. */
  reasonFor(reason: unknown): Error
  end(): void
}

/** `Infinity` is no limit. */
export function stopwatch(limitMs: number, leaving: AbortSignal): Stopwatch {
  const { signal, abort, end } = linkSignals([leaving])
  const tooLong = new A2AError('TIMEOUT', `It took longer than ${limitMs} ms`)
  let leftMs = limitMs
  let pauses = 0
  let isOver = false
  let since = performance.now()
  let timer = start()

  function start(): NodeJS.Timeout | undefined {
    since = performance.now()
    return Number.isFinite(leftMs) ? setTimeout(() => abort(tooLong), leftMs) : undefined
  }

  return {
    signal,
    pause() {
      pauses += 1
      if (pauses > 1) return
      clearTimeout(timer)
      leftMs -= performance.now() - since
    },
    go() {
      pauses -= 1
      if (pauses === 0 && !isOver) timer = start()
    },
    reasonFor(reason) {
      if (leaving.aborted) return leaving.reason as Error
      return signal.aborted ? tooLong : (reason as Error)
    },
    end() {
      isOver = true
      clearTimeout(timer)
      end()
    },
  }
}
