/** The spans of one turn. Each is written when it ends; what is open when the turn ends, ends with it. */
import type { OpenSpan, SpanOptions } from '../agents/agent.ts'
import { boundAttributes } from '../model/span.ts'
import type { Span, SpanOutcome } from '../model/span.ts'
import type { Struct } from '../model/task.ts'
import { spanIdOfTurn, traceIdOf, traceIdOfTask } from '../model/trace.ts'

export interface TurnSpansParts {
  readonly taskId: string
  readonly turn: number
  readonly attempt: number
  /** Of the request that the turn answers. */
  readonly traceparent: string | undefined
  readonly now: () => number
  write(span: Span): void
}

export class TurnSpans {
  readonly #parts: TurnSpansParts
  readonly #turnSpanId: string
  readonly #open = new Set<OpenSpan>()
  #made = 0

  constructor(parts: TurnSpansParts) {
    this.#parts = parts
    this.#turnSpanId = spanIdOfTurn(parts.taskId, parts.turn, parts.attempt)
  }

  /** For what the turn itself calls. */
  get traceparent(): string {
    return this.#contextOf(this.#turnSpanId)
  }

  start(name: string, { kind = 'other', attributes = {}, parent }: SpanOptions): OpenSpan {
    const { taskId, turn, attempt, now, write } = this.#parts
    this.#made += 1
    const spanId = spanIdOfTurn(taskId, turn, attempt, this.#made)
    const startedAt = now()
    let known: Struct = attributes
    const span: OpenSpan = {
      spanId,
      traceparent: this.#contextOf(spanId),
      set(more) {
        known = { ...known, ...more }
      },
      end: (outcome: SpanOutcome = 'ok', more: Struct = {}) => {
        if (!this.#open.delete(span)) return
        const kept = boundAttributes({ ...known, ...more })
        write({
          spanId,
          parentId: parent?.spanId ?? this.#turnSpanId,
          name: name.slice(0, 200),
          kind,
          startedAt,
          endedAt: now(),
          outcome,
          ...(Object.keys(kept).length > 0 ? { attributes: kept } : {}),
        })
      },
    }
    this.#open.add(span)
    return span
  }

  endAll(outcome: SpanOutcome): void {
    for (const span of [...this.#open].reverse()) span.end(outcome)
  }

  #contextOf(spanId: string): string {
    const { traceparent, taskId } = this.#parts
    // Whether it is sampled is for the caller to say; what nobody traced before us is.
    const flags = traceparent?.slice(-2) ?? '01'
    return `00-${traceIdOf(traceparent) ?? traceIdOfTask(taskId)}-${spanId}-${flags}`
  }
}
