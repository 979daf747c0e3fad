/** How long a thing that is asked what it is may take to say so. */
import { linkSignals } from '@parley/a2a'

export interface TimeLimit {
  readonly signal: AbortSignal
  readonly ms: number
  /** Why something ended: because its time was up, or as it says itself. */
  reasonFor(reason: unknown): string
}

/** Ends with `parent`, which `detectWith` aborts in any case: a limit needs no end of its own. */
export function timeLimit(ms: number, parent: AbortSignal): TimeLimit {
  const { signal } = linkSignals([parent], ms)
  return {
    signal,
    ms,
    reasonFor(reason) {
      if (signal.aborted && !parent.aborted) return `it did not answer within ${ms / 1_000} s`
      return deepest(reason)
    },
  }
}

/** Errors of networks and programs are wrapped; what happened is in the middle. */
function deepest(reason: unknown): string {
  let at: unknown = reason
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  const text = at instanceof Error ? at.message : String(at)
  return text.split('\n', 1)[0]?.slice(0, 300) ?? ''
}
