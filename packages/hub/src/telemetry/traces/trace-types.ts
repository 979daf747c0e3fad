/**
 * Traces for operators: search and display. A trace is the tree of one request, with a task at its root; it contains nothing that a
 * caller, a model or a tool said. Types only.
 */
import type { Struct, TaskState } from '@parley/a2a'
import type { SpanKind, SpanOutcome } from '@parley/a2a/internal'
import type { SpanTotals } from './span-totals.ts'

/** The kinds that agents report, and those derived from the log: the task, its turns and webhook attempts. */
export type TraceSpanKind = SpanKind | 'task' | 'turn' | 'push'

/** One timed operation. */
export interface TraceSpan {
  readonly traceId: string
  readonly spanId: string
  /** The parent span, in this hub or at its caller. Absent if the request was not traced before. */
  readonly parentId?: string
  readonly taskId: string
  readonly name: string
  readonly kind: TraceSpanKind
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Absent while it runs. */
  readonly endedAt?: number
  readonly outcome?: SpanOutcome
  readonly attributes: Struct
  /** Log events within the span, in order; of many, the first and the last. */
  readonly events: readonly TraceEvent[]
  readonly droppedEvents: number
  /** Whether the sender of the request wants it recorded elsewhere. */
  readonly isSampled: boolean
  /** The span of its task, if that is in another trace. */
  readonly link?: { readonly traceId: string; readonly spanId: string }
}

/** One event of a task's log. Clients that activate the trace extension receive the same `spanId`. */
export interface TraceEvent {
  readonly seq: number
  readonly spanId: string
  readonly name: string
  readonly at: number
  readonly attributes: Struct
}

/** A span with its children, earliest first. */
export interface TraceNode extends TraceSpan {
  readonly children: readonly TraceNode[]
}

/** The status for lists: running or waiting, succeeded, failed. */
export type TraceStatus = 'PENDING' | 'SUCCESS' | 'ERROR'

/** The agents on whose behalf a task was created. */
export interface DelegationContext {
  readonly parentTaskId?: string
  readonly rootTaskId?: string
  /** The number of agents between the first caller and this task. */
  readonly depth: number
  /** Those agents, first to last. */
  readonly visited: readonly string[]
}

/** The data of the root of a trace, and the totals of its tree (S4-16). */
export interface TraceSummary extends SpanTotals {
  readonly type: 'A2A_TASK'
  readonly traceId: string
  readonly taskId: string
  readonly contextId: string
  readonly agent: string
  readonly caller: string
  readonly tenant: string
  readonly state: TaskState
  readonly status: TraceStatus
  /** The id of the message that began it: a repeated message returns the same task. */
  readonly idempotencyKey: string
  readonly delegationContext?: DelegationContext
  readonly startedAt: number
  readonly endedAt?: number
  /** Why it failed, with the message that its caller received. */
  readonly error?: string
  /** All agents of this hub that took part. */
  readonly agents: readonly string[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly tasks: number
}

export interface TraceQuery {
  readonly limit: number
  /** The `before` of the previous page. */
  readonly before?: string | undefined
  /** An agent that took part. */
  readonly agent?: string | undefined
  readonly caller?: string | undefined
  readonly tenant?: string | undefined
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  readonly status?: TraceStatus | undefined
  /** Start time in milliseconds since the epoch; inclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly minDurationMs?: number | undefined
  /** Minimum number of failed spans. */
  readonly minErrors?: number | undefined
  /** Matches an id, the name of an agent, a model or a tool, or the error message. */
  readonly text?: string | undefined
}

export interface TracePage {
  /** Newest first. */
  readonly traces: readonly TraceSummary[]
  /** The cursor of the next page, if there are more. */
  readonly before?: string
}

export interface Trace {
  readonly summary: TraceSummary
  readonly root: TraceNode
  /** Of its root task. */
  readonly times: TimeParts
  /** Whether something is missing: the log was pruned, or the tree is larger than the limit. */
  readonly isPartial: boolean
}

/** Where the time of a task went, in milliseconds. */
export interface TimeParts {
  /** From the message to the first call of a model or a tool: a place in the queue of the agent, and its own preparation. */
  readonly queueMs: number
  /** The first call of a model. */
  readonly firstModelMs: number
  /** Other calls of models. */
  readonly modelMs: number
  /** Tools and other agents, while no model was called. */
  readonly toolsMs: number
  /** The rest of its turns. */
  readonly otherMs: number
  /** Between its turns: for its caller. */
  readonly waitingMs: number
  /** Attempts to deliver its webhooks. They add to the time of the task or follow it. */
  readonly deliveryMs: number
}

export interface AgentTimes {
  /** The sum over the tasks that were read. */
  readonly times: TimeParts
  readonly tasks: number
  /** Whether there are older ones that were not read. */
  readonly isCut: boolean
}

export interface Traces {
  list(query: TraceQuery): Promise<TracePage>
  /** By task id, or by trace id, which may have several roots. Empty if there is none. */
  get(id: string): Promise<readonly Trace[]>
  /** Where the time of the tasks of an agent went that ended in this range, the newest ones. */
  times(query: { readonly agent: string; readonly since: number; readonly until: number }): Promise<AgentTimes>
}
