/** A trace as a waterfall: what ran when, under what, and how it ended. */
import type { Trace } from '../api/admin.ts'

export interface WaterfallProps {
  readonly trace: Trace
  /** The id of a span. */
  readonly selected?: string | undefined
  readonly onSelect?: ((spanId: string) => void) | undefined
}

export function Waterfall({ trace }: WaterfallProps) {
  return <p>{trace.traceId}</p>
}
