/** Which span an event of the log happened in, and which event a span is known by. */
import type { LogRecord, Span } from '../../api/admin.ts'
import { bodyOf } from './fold-events.ts'
import { timeOf } from './time-axis.ts'

/** The span that the event itself is, else the one that has it, else the innermost that was open then. */
export function spanOfEvent(
  roots: readonly Span[],
  taskId: string,
  seq: number,
  events: readonly LogRecord[],
): string | undefined {
  const event = events.find((one) => one.seq === seq)
  const body = event === undefined ? undefined : bodyOf(event)
  if (body?.type === 'span') return body.span.spanId
  const mine = roots.flatMap(flat).filter((span) => span.taskId === taskId)
  const holder = mine.find((span) => span.events.some((one) => one.seq === seq))
  if (holder !== undefined || event === undefined) return holder?.spanId
  const at = timeOf(event)
  return mine.findLast((span) => Date.parse(span.startedAt) <= at && at <= Date.parse(span.endedAt ?? event.at))?.spanId
}

/** The event that logged it, or the first that happened in it; of another task's span, none. */
export function eventOfSpan(
  roots: readonly Span[],
  taskId: string,
  spanId: string,
  events: readonly LogRecord[],
): number | undefined {
  const logged = events.find((event) => {
    const body = bodyOf(event)
    return body.type === 'span' && body.span.spanId === spanId
  })
  if (logged !== undefined) return logged.seq
  const span = roots.flatMap(flat).find((one) => one.spanId === spanId)
  return span?.taskId === taskId ? span.events[0]?.seq : undefined
}

/** Parents before their children. */
function flat(span: Span): readonly Span[] {
  return [span, ...span.children.flatMap(flat)]
}
