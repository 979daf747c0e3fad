/** The spans of tasks as a tree, and the spans that no log contains: of a pruned task, and of webhook attempts. */
import { spanIdOfEvent, spanOutcomeOf, spanIdOfPush, type PushAttempt } from '@parley/a2a/internal'
import type { TaskRow } from '@parley/a2a/stores'
import type { TraceNode, TraceSpan } from './trace-types.ts'
import type { TaskTrace } from './task-trace.ts'

/** For a task whose log was pruned: what its row still has. */
export function rootSpanFromRow(
  { id, status, statusAt, createdAt, agent, owner, contextId }: TaskRow,
  { traceId }: TaskTrace,
): TraceSpan {
  return {
    traceId,
    spanId: spanIdOfEvent(id, 0),
    taskId: id,
    name: `invoke_agent ${agent}`,
    kind: 'task',
    startedAt: createdAt,
    endedAt: statusAt,
    outcome: spanOutcomeOf(status.state),
    attributes: {
      type: 'A2A_TASK',
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': contextId,
      taskId: id,
      caller: owner,
      state: status.state,
    },
    events: [],
    droppedEvents: 0,
    isSampled: true,
  }
}

/** The data of one task. */
interface TaskSpans {
  readonly taskId: string
  /** Includes the span of the task itself. */
  readonly spans: readonly TraceSpan[]
  /** The trees of the tasks that it created. */
  readonly below: readonly TraceNode[]
}

/** A span without a known parent is placed directly below the task: nothing is left out. */
export function buildTraceTree({ taskId, spans, below }: TaskSpans): TraceNode | undefined {
  const rootId = spanIdOfEvent(taskId, 0)
  const root = spans.find(({ spanId }) => spanId === rootId)
  if (root === undefined) return undefined
  const known = new Set(spans.map(({ spanId }) => spanId))
  // The parent span of a child whose call has not ended is not known yet: the child is placed below the running turn.
  const running = spans.find(({ kind, endedAt }) => kind === 'turn' && endedAt === undefined)?.spanId
  const children = new Map<string, (TraceSpan | TraceNode)[]>()
  const put = (span: TraceSpan | TraceNode, elsewhere: string): void => {
    const parent = span.parentId !== undefined && known.has(span.parentId) ? span.parentId : elsewhere
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [span])
    else siblings.push(span)
  }
  for (const span of spans) if (span !== root) put(span, rootId)
  for (const node of below) put(node, running ?? rootId)
  return grow(root, new Set())

  function grow(span: TraceSpan | TraceNode, above: ReadonlySet<string>): TraceNode {
    if ('children' in span) return span
    // Spans that name each other as parents would recurse for ever.
    const inside = new Set([...above, span.spanId])
    const within = (children.get(span.spanId) ?? []).filter(({ spanId }) => !inside.has(spanId))
    return { ...span, children: within.toSorted(byStart).map((child) => grow(child, inside)) }
  }
}

/** The span of one webhook attempt. */
export function pushAttemptSpan(attempt: PushAttempt, root: TraceSpan): TraceSpan {
  const { taskId, pushId, seq, at, durationMs, outcome: said } = attempt
  const { traceId, isSampled } = root
  return {
    traceId,
    spanId: spanIdOfPush(taskId, pushId, seq, at),
    parentId: root.spanId,
    taskId,
    name: 'push',
    kind: 'push',
    startedAt: at,
    endedAt: at + durationMs,
    outcome: /^HTTP 2\d\d$/.test(said) ? 'ok' : 'error',
    attributes: { taskId, configId: pushId, seq, attempt: attempt.attempt, said },
    events: [],
    droppedEvents: 0,
    isSampled,
  }
}

function byStart(a: TraceSpan, b: TraceSpan): number {
  return a.startedAt - b.startedAt
}
