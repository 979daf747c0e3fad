/** Time limit of one detector. */
import { linkSignals } from '@parley/a2a'

export interface TimeLimit {
  readonly signal: AbortSignal
  readonly ms: number
  /** Describes why a detector ended: its timeout, or its own error. */
  reasonFor(reason: unknown): string
}

/** Linked to `parent`, which `combineDetectors` always aborts, so the limit needs no cleanup. */
export function createTimeLimit(ms: number, parent: AbortSignal): TimeLimit {
  const { signal } = linkSignals([parent], ms)
  return {
    signal,
    ms,
    reasonFor(reason) {
      if (signal.aborted && !parent.aborted) return `it did not answer within ${ms / 1_000} s`
      return rootCauseMessage(reason)
    },
  }
}

/** Network and process errors are wrapped; the innermost cause has the useful message. */
function rootCauseMessage(reason: unknown): string {
  let at: unknown = reason
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  const text = at instanceof Error ? at.message : String(at)
  return text.split('\n', 1)[0]?.slice(0, 300) ?? ''
}
