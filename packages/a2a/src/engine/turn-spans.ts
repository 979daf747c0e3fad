/** The spans of one turn. Each is written when it ends; what is open when the turn ends, ends with it. */
import type { OpenSpan, SpanOptions } from '../agents/agent.ts'
import { boundAttributes, boundName } from '../model/span.ts'
import type { Span, SpanOutcome } from '../model/span.ts'
import type { Struct } from '../model/task.ts'
import { readTraceparent, spanIdOfTurn, traceIdOfTask, traceparentOf } from '../model/trace.ts'
import type { TraceContext } from '../model/trace.ts'

export interface TurnSpansParts {
  readonly taskId: string
  readonly turn: number
  readonly attempt: number
  /** Of the request that the turn answers. */
  readonly traceparent: string | undefined
  readonly now: () => number
  /** Whether there is no log yet to write to. */
  isHeld(): boolean
  write(span: Span): unknown
}

/** An agent that goes round for hours must not fill the log with what it did: later ones have ids, and are not kept. */
const mostKept = 1_000

export class TurnSpans {
  readonly #parts: TurnSpansParts
  readonly #turnSpanId: string
  readonly #open = new Set<OpenSpan>()
  readonly #held: Span[] = []
  #context: Omit<TraceContext, 'spanId'> | undefined
  #made = 0

  constructor(parts: TurnSpansParts) {
    this.#parts = parts
    this.#turnSpanId = spanIdOfTurn(parts.taskId, parts.turn, parts.attempt)
  }

  get traceId(): string {
    return this.#trace().traceId
  }

  /** For what the turn itself calls. */
  get traceparent(): string {
    return this.#contextOf(this.#turnSpanId)
  }

  start(name: string, { kind = 'other', attributes = {}, parent, resumed }: SpanOptions): OpenSpan {
    const { taskId, turn, attempt, now } = this.#parts
    this.#made += 1
    const isKept = this.#made <= mostKept
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
          // Clocks are set back.
          endedAt: Math.max(startedAt, now()),
          outcome,
          ...(Object.keys(kept).length > 0 ? { attributes: kept } : {}),
        })
      },
    }
    if (isKept) this.#open.add(span)
    return span
  }

  /** The last opened first, so that none ends before what was done within it. */
  endAll(outcome: SpanOutcome): void {
    for (const span of [...this.#open].reverse()) span.end(outcome)
  }

  /** There is a log from now on. */
  writeHeld(): void {
    for (const span of this.#held.splice(0)) this.#parts.write(span)
  }

  #write(span: Span): void {
    if (this.#parts.isHeld()) this.#held.push(span)
    else this.#parts.write(span)
  }

  #contextOf(spanId: string): string {
    return traceparentOf({ ...this.#trace(), spanId })
  }

  /** Whether it is sampled is for the caller to say; what nobody traced before us is. */
  #trace(): Omit<TraceContext, 'spanId'> {
    const { traceparent, taskId } = this.#parts
    return (this.#context ??= readTraceparent(traceparent) ?? { traceId: traceIdOfTask(taskId), isSampled: true })
  }
}
