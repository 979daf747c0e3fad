/**
 * Records a tool call, or a run of a remote agent, as a span of its turn, by OpenTelemetry's conventions for generative AI.
 */
import { A2AError, type Turn, type Report, type Struct } from '@parley/a2a'
import { omitUndefined, spanOutcomeOf, type OpenSpan, type SpanOutcome } from '@parley/a2a/internal'

export interface ToolSpanOptions {
  readonly name: string
  /** The call id from the model. */
  readonly callId?: string
  /** `extension` for a tool that runs in another program, `function` for one that runs here. */
  readonly type?: 'function' | 'extension'
}

/** Ends with the work: as a failure if it throws or returns `isError`, otherwise as a success. */
export async function withToolSpan<T extends object>(
  turn: Pick<Turn, 'span' | 'signal'>,
  { name, callId, type }: ToolSpanOptions,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  const span = turn.span(`execute_tool ${name}`, {
    kind: 'tool',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      ...(callId !== undefined ? { 'gen_ai.tool.call.id': callId } : {}),
      ...(type !== undefined ? { 'gen_ai.tool.type': type } : {}),
    },
  })
  try {
    const outcome = await work(span)
    span.end('isError' in outcome && outcome.isError === true ? 'error' : 'ok')
    return outcome
  } catch (reason) {
    if (turn.signal.aborted) span.end('canceled')
    else span.end('error', { 'error.type': reason instanceof A2AError ? reason.code : nameOf(reason) })
    throw reason
  }
}

/** The trace fields for a call: its span, and the tracestate of other vendors. */
export function traceMeta(span: OpenSpan, tracestate: string | undefined): Readonly<Record<string, string>> {
  return { traceparent: span.traceparent, ...omitUndefined({ tracestate }) }
}

function nameOf(reason: unknown): string {
  return reason instanceof Error ? reason.name : 'Error'
}

interface HopSpanOptions {
  /** The name of the agent in this hub. */
  readonly agent: string
  readonly url: string
}

/** Forwards all reports of a remote agent. The last one decides the outcome of the span; its usage is recorded. */
export async function* withHopSpan(
  turn: Pick<Turn, 'span' | 'signal'>,
  { agent, url }: HopSpanOptions,
  run: (span: OpenSpan) => AsyncIterable<Report>,
): AsyncGenerator<Report, void, void> {
  const span = turn.span(`call ${agent}`, {
    kind: 'hop',
    attributes: { agent, ...(URL.canParse(url) ? { 'server.address': new URL(url).hostname } : {}) },
  })
  let last: Report | undefined
  let hasThrown = true
  try {
    for await (const report of run(span)) {
      last = report
      // Set before the yield, because the turn and its open spans may end with this report.
      span.set(usageIn(report))
      yield report
    }
    hasThrown = false
  } finally {
    const isLeft = turn.signal.aborted
    span.end(isLeft ? 'canceled' : hasThrown ? 'error' : outcomeOfReport(last))
  }
}

function outcomeOfReport(last: Report | undefined): SpanOutcome {
  return spanOutcomeOf(typeof last === 'object' && 'state' in last ? last.state : undefined)
}

function usageIn(report: Report): Struct {
  const metadata = typeof report === 'object' && 'metadata' in report ? report.metadata : undefined
  const usage = (metadata as { readonly usage?: Struct } | undefined)?.usage
  const { inputTokens, outputTokens } = usage ?? {}
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return {}
  return { 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens }
}
