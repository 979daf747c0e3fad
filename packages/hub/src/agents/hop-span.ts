/** Records a run of a remote agent as a span of the waiting turn: its outcome, and the usage it reports. */
import { spanOutcomeOf } from '@parley/a2a'
import type { OpenSpan, Report, SpanOutcome, Struct, Turn } from '@parley/a2a'

export interface HopSpanOptions {
  /** The name of the agent in this hub. */
  readonly agent: string
  readonly url: string
}

/** Forwards all reports; the last one decides the outcome of the span. */
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
