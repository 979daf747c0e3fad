/** Spans of one task put into each other, with the tasks of others that it led to, and what webhooks were told. Pure. */
import { spanIdOfEvent, spanIdOfPush } from '@parley/a2a'
import type { PushAttempt } from '@parley/a2a'
import type { TraceNode, TraceSpan } from './contract.ts'

/** What is known of one task. */
export interface TaskSpans {
  readonly taskId: string
  /** Its own among them. */
  readonly spans: readonly TraceSpan[]
  /** The trees of tasks that it made. */
  readonly below: readonly TraceNode[]
}

/** What cannot be put where it belongs stands directly below the task: nothing is left out. */
export function treeOf({ taskId, spans, below }: TaskSpans): TraceNode | undefined {
  const rootId = spanIdOfEvent(taskId, 0)
  const root = spans.find(({ spanId }) => spanId === rootId)
  if (root === undefined) return undefined
  const known = new Set(spans.map(({ spanId }) => spanId))
  // A child whose call has not ended yet has a parent that is not told yet: it stands with the turn that runs.
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
    // Spans that name each other as parents would never end.
    const inside = new Set([...above, span.spanId])
    const within = (children.get(span.spanId) ?? []).filter(({ spanId }) => !inside.has(spanId))
    return { ...span, children: within.toSorted(byStart).map((child) => grow(child, inside)) }
  }
}

/** One try to tell a webhook. */
export function pushSpan(attempt: PushAttempt, root: TraceSpan): TraceSpan {
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
