/** How long a thing that is asked what it is may take to say so. */

export interface TimeLimit {
  readonly signal: AbortSignal
  readonly ms: number
  /** Why something ended: because its time was up, or as it says itself. */
  reasonFor(reason: unknown): string
}

export function timeLimit(ms: number, signal: AbortSignal): TimeLimit {
  const late = AbortSignal.timeout(ms)
  return {
    signal: AbortSignal.any([signal, late]),
    ms,
    reasonFor(reason) {
      if (late.aborted && !signal.aborted) return `it did not answer within ${ms / 1_000} s`
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
