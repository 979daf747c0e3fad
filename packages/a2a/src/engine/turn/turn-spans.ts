/** The spans of one turn. Each is written when it ends; open spans end with the turn. */
import type { OpenSpan, SpanOptions } from '../../agents/agent.ts'
import { type Span, type SpanOutcome, boundAttributes, boundName } from '../../model/record.ts'
import type { Struct } from '../../model/task.ts'
import { readTraceparent, spanIdOfTurn, traceIdOfTask, traceparentOf, type TraceContext } from '../../model/trace.ts'

export interface TurnSpansDeps {
  readonly taskId: string
  readonly turn: number
  readonly attempt: number
  /** The trace of the request that started the turn. */
  readonly traceparent: string | undefined
  readonly now: () => number
  /** Whether there is no log yet to write to. */
  isHeld(): boolean
  write(span: Span): unknown
}

/** An agent that loops for hours must not fill the log with spans: later spans have ids, but are not stored. */
const maxSpans = 1_000

export class TurnSpans {
  readonly #deps: TurnSpansDeps
  readonly #turnSpanId: string
  readonly #open = new Set<OpenSpan>()
  readonly #unwritten: Span[] = []
  #context: Omit<TraceContext, 'spanId'> | undefined
  #made = 0

  constructor(deps: TurnSpansDeps) {
    this.#deps = deps
    this.#turnSpanId = spanIdOfTurn(deps.taskId, deps.turn, deps.attempt)
  }

  get traceId(): string {
    return this.#trace().traceId
  }

  /** For requests that the turn itself makes. */
  get traceparent(): string {
    return this.#contextOf(this.#turnSpanId)
  }

  start(name: string, { kind = 'other', attributes = {}, parent, resumed }: SpanOptions): OpenSpan {
    const { taskId, turn, attempt, now } = this.#deps
    this.#made += 1
    const isKept = this.#made <= maxSpans
    const { spanId, startedAt } = resumed ?? {
      spanId: spanIdOfTurn(taskId, turn, attempt, this.#made),
      startedAt: now(),
    }
    let known: Struct = attributes
    const span: OpenSpan = {
      spanId,
      startedAt,
      traceparent: this.#contextOf(spanId),
      set(more) {
        known = { ...known, ...more }
      },
      end: (outcome: SpanOutcome = 'ok', more: Struct = {}) => {
        if (!this.#open.delete(span)) return
        const kept = boundAttributes({ ...known, ...more })
        this.#write({
          spanId,
          parentId: parent?.spanId ?? this.#turnSpanId,
          name: boundName(name),
          kind,
          startedAt,
          // The wall clock may step back.
          endedAt: Math.max(startedAt, now()),
          outcome,
          ...(Object.keys(kept).length > 0 ? { attributes: kept } : {}),
        })
      },
    }
    if (isKept) this.#open.add(span)
    return span
  }

  /** The last opened first, so that no span ends before its children. */
  endAll(outcome: SpanOutcome): void {
    for (const span of [...this.#open].reverse()) span.end(outcome)
  }

  /** There is a log from now on. */
  writeHeld(): void {
    for (const span of this.#unwritten.splice(0)) this.#deps.write(span)
  }

  #write(span: Span): void {
    if (this.#deps.isHeld()) this.#unwritten.push(span)
    else this.#deps.write(span)
  }

  #contextOf(spanId: string): string {
    return traceparentOf({ ...this.#trace(), spanId })
  }

  /** The caller decides whether the trace is sampled; a trace that starts here is. */
  #trace(): Omit<TraceContext, 'spanId'> {
    const { traceparent, taskId } = this.#deps
    return (this.#context ??= readTraceparent(traceparent) ?? { traceId: traceIdOfTask(taskId), isSampled: true })
  }
}
