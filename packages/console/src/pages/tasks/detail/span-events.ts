/** Maps log events to spans, and spans to events. */
import type { LogRecord, Span } from '../../../api/admin.ts'
import { recordBody } from '../events/fold-events.ts'
import { recordTimeMs } from '../timeline/event-axis.ts'

/** The span that the event itself is; otherwise the one that contains it; otherwise the innermost one open at that time. */
export function spanOfEvent(
  roots: readonly Span[],
  taskId: string,
  seq: number,
  events: readonly LogRecord[],
): string | undefined {
  const event = events.find((one) => one.seq === seq)
  const body = event === undefined ? undefined : recordBody(event)
  if (body?.type === 'span') return body.span.spanId
  const mine = roots.flatMap(flattenSpan).filter((span) => span.taskId === taskId)
  const holder = mine.find((span) => span.events.some((one) => one.seq === seq))
  if (holder !== undefined || event === undefined) return holder?.spanId
  const at = recordTimeMs(event)
  return mine.findLast((span) => Date.parse(span.startedAt) <= at && at <= Date.parse(span.endedAt ?? event.at))?.spanId
}

/** The event that logged the span, or the first one within it; `undefined` for a span of another task. */
export function eventOfSpan(
  roots: readonly Span[],
  taskId: string,
  spanId: string,
  events: readonly LogRecord[],
): number | undefined {
  const logged = events.find((event) => {
    const body = recordBody(event)
    return body.type === 'span' && body.span.spanId === spanId
  })
  if (logged !== undefined) return logged.seq
  const span = roots.flatMap(flattenSpan).find((one) => one.spanId === spanId)
  return span?.taskId === taskId ? span.events[0]?.seq : undefined
}

/** Parents before their children. */
function flattenSpan(span: Span): readonly Span[] {
  return [span, ...span.children.flatMap(flattenSpan)]
}
