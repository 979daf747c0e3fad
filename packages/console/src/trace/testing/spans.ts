/** Minimal spans for tests. */
import type { Span } from '../../api/admin.ts'

export const t0 = Date.parse('2030-01-01T12:00:00.000Z')

export interface SpanOverrides extends Partial<Omit<Span, 'startedAt' | 'endedAt'>> {
  /** Milliseconds after `t0`; without an end the span is running. */
  readonly at?: readonly [from: number, to?: number]
}

export function span(spanId: string, { at: [from, to] = [0, 10], ...given }: SpanOverrides = {}): Span {
  const iso = (ms: number): string => new Date(t0 + ms).toISOString()
  return {
    traceId: 'trace',
    spanId,
    taskId: 'task',
    name: spanId,
    kind: 'other',
    startedAt: iso(from),
    ...(to === undefined ? {} : { endedAt: iso(to), durationMs: to - from, outcome: 'ok' as const }),
    attributes: {},
    events: [],
    droppedEvents: 0,
    children: [],
    ...given,
  }
}

/** A task of an agent, with child spans. */
export function taskOf(agent: string, children: readonly Span[] = [], given: SpanOverrides = {}): Span {
  const taskId = given.taskId ?? `${agent}-task`
  return span(`${taskId}-root`, {
    kind: 'task',
    name: `invoke_agent ${agent}`,
    taskId,
    children,
    ...given,
    attributes: { 'gen_ai.agent.name': agent, state: 'TASK_STATE_COMPLETED', ...given.attributes },
  })
}

/** A call to another agent. */
export function hopTo(agent: string, children: readonly Span[] = [], given: SpanOverrides = {}): Span {
  const childTaskId = children[0]?.taskId
  return span(given.spanId ?? `hop-${childTaskId ?? agent}`, {
    kind: 'hop',
    name: `delegate ${agent}`,
    children,
    ...given,
    attributes: { agent, ...(childTaskId === undefined ? {} : { childTaskId }), ...given.attributes },
  })
}
