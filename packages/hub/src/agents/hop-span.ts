/** A run of an agent elsewhere as a span of the turn that waits for it: how it went, and what it says that it used. */
import type { OpenSpan, Report, SpanOutcome, Struct, Turn } from '@parley/a2a'

export interface HopAbout {
  /** As this hub calls it. */
  readonly agent: string
  readonly url: string
}

/** Passes on what is reported; the last of it tells how the run went. */
export async function* withHopSpan(
  turn: Pick<Turn, 'span' | 'signal'>,
  { agent, url }: HopAbout,
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
      // The turn, and all that is open in it, may end with what is said now.
      span.set(usageIn(report))
      yield report
    }
    hasThrown = false
  } finally {
    const isLeft = turn.signal.aborted
    span.end(isLeft ? 'canceled' : hasThrown ? 'error' : outcomeOf(last))
  }
}

function outcomeOf(last: Report | undefined): SpanOutcome {
  const state = typeof last === 'object' && 'state' in last ? last.state : undefined
  if (state === 'TASK_STATE_CANCELED') return 'canceled'
  return state === 'TASK_STATE_FAILED' || state === 'TASK_STATE_REJECTED' ? 'error' : 'ok'
}

function usageIn(report: Report): Struct {
  const metadata = typeof report === 'object' && 'metadata' in report ? report.metadata : undefined
  const usage = (metadata as { readonly usage?: Struct } | undefined)?.usage
  const { inputTokens, outputTokens } = usage ?? {}
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return {}
  return { 'gen_ai.usage.input_tokens': inputTokens, 'gen_ai.usage.output_tokens': outputTokens }
}
