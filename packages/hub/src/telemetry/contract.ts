/**
 * What is known of what the hub did, for whoever runs it: traces, found and shown. A trace is the tree of one request, with
 * a task at its root; whatever a caller, a model or a tool said is not part of it. Types only.
 */
import type { SpanKind, SpanOutcome, Struct, TaskState } from '@parley/a2a'

/** The kinds that agents report, and those that are found in the log: the task, its turns, and what webhooks were told. */
export type TraceSpanKind = SpanKind | 'task' | 'turn' | 'push'

/** One thing that took time. */
export interface TraceSpan {
  readonly traceId: string
  readonly spanId: string
  /** Within this hub or at whoever called it. Absent: nobody traced what led to it. */
  readonly parentId?: string
  readonly taskId: string
  readonly name: string
  readonly kind: TraceSpanKind
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Absent while it goes on. */
  readonly endedAt?: number
  readonly outcome?: SpanOutcome
  readonly attributes: Struct
  /** What was logged meanwhile, in order; of many, the first and the last. */
  readonly events: readonly TraceEvent[]
  readonly droppedEvents: number
  /** Whether whoever sent the request wants it recorded elsewhere. */
  readonly isSampled: boolean
  /** The span of the task that it belongs to, where that is in another trace. */
  readonly link?: { readonly traceId: string; readonly spanId: string }
}

/** One event of a task's log. `spanId` is what those are told who activate the trace extension. */
export interface TraceEvent {
  readonly seq: number
  readonly spanId: string
  readonly name: string
  readonly at: number
  readonly attributes: Struct
}

/** A span with those within it, the earliest first. */
export interface TraceNode extends TraceSpan {
  readonly children: readonly TraceNode[]
}

/** As people sort them: what goes on or waits, what went well, what did not. */
export type TraceStatus = 'PENDING' | 'SUCCESS' | 'ERROR'

/** On whose behalf a task was made by an agent. */
export interface DelegationContext {
  readonly parentTaskId?: string
  readonly rootTaskId?: string
  /** How many agents stand between the first caller and this task. */
  readonly depth: number
  /** Those agents, the first one first. */
  readonly visited: readonly string[]
}

/** What a trace's root carries, and what everything below it adds up to (S4-16). */
export interface TraceSummary {
  readonly type: 'A2A_TASK'
  readonly traceId: string
  readonly taskId: string
  readonly contextId: string
  readonly agent: string
  readonly caller: string
  readonly tenant: string
  readonly state: TaskState
  readonly status: TraceStatus
  /** The id of the message that began it: the same message again is the same task. */
  readonly idempotencyKey: string
  readonly delegationContext?: DelegationContext
  readonly startedAt: number
  readonly endedAt?: number
  /** Why it failed, in the words its caller was told. */
  readonly error?: string
  /** All agents of this hub that took part. */
  readonly agents: readonly string[]
  readonly models: readonly string[]
  readonly tools: readonly string[]
  readonly tasks: number
  readonly turns: number
  readonly spans: number
  /** Spans that failed. */
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** In the currency of the configured prices; absent where no price is known. */
  readonly cost?: number
}

export interface TraceQuery {
  readonly limit: number
  /** As the page before said. */
  readonly before?: string | undefined
  /** One of those that took part. */
  readonly agent?: string | undefined
  readonly caller?: string | undefined
  readonly tenant?: string | undefined
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  readonly status?: TraceStatus | undefined
  /** Of the start, in milliseconds since the epoch; inclusive. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly minDurationMs?: number | undefined
  /** Spans that failed. */
  readonly minErrors?: number | undefined
  /** In an id, a name of an agent, a model or a tool, or in what went wrong. */
  readonly text?: string | undefined
}

export interface TracePage {
  /** Newest first. */
  readonly traces: readonly TraceSummary[]
  /** There if there are more: for the next query. */
  readonly before?: string
}

export interface Trace {
  readonly summary: TraceSummary
  readonly root: TraceNode
  /** Whether something is missing: the log was dropped, or there is more than is shown. */
  readonly isPartial: boolean
}

export interface Traces {
  list(query: TraceQuery): Promise<TracePage>
  /** By the id of a task, or by that of a trace, which may have several roots. Nothing if there is none. */
  get(id: string): Promise<readonly Trace[]>
}
