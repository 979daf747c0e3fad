/**
 * Records one model call as a span of its turn, by OpenTelemetry's conventions for generative AI: the model, the tokens,
 * the finish reason and the cost. It contains no message text.
 */
import { A2AError, type Struct } from '@parley/a2a'
import { omitUndefined, type OpenSpan } from '@parley/a2a/internal'
import type { ModelCall, ModelTrace } from '../chat-model.ts'

interface ModelSpan {
  /** Sent to the endpoint, so that its own spans join this trace. */
  readonly headers: Readonly<Record<string, string>>
  answered(call: ModelCall): void
  failed(reason: unknown): void
  /** The reader stopped early. Has no effect on a span that has ended. */
  cancel(): void
}

interface ModelSpanOptions {
  readonly model: string
  /** Identifies the endpoint. */
  readonly baseUrl: string
  cost(call: ModelCall): number | undefined
}

export function openModelSpan(trace: ModelTrace | undefined, { model, baseUrl, cost }: ModelSpanOptions): ModelSpan {
  const span = trace?.span(`chat ${model}`, {
    kind: 'model',
    ...omitUndefined({ parent: trace.parent }),
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': model,
      'server.address': new URL(baseUrl).hostname,
    },
  })
  return {
    headers: headersOf(span, trace?.tracestate),
    answered(call) {
      span?.end('ok', aboutCall(call, cost(call)))
    },
    failed(reason) {
      span?.end('error', { 'error.type': reason instanceof A2AError ? reason.code : 'INTERNAL' })
    },
    cancel: () => span?.end('canceled'),
  }
}

function headersOf(span: OpenSpan | undefined, tracestate: string | undefined): Record<string, string> {
  if (span === undefined) return {}
  return { traceparent: span.traceparent, ...omitUndefined({ tracestate }) }
}

function aboutCall({ model, finishReason, attempts, usage }: ModelCall, cost: number | undefined): Struct {
  return {
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [finishReason],
    ...(attempts > 1 ? { attempts } : {}),
    ...(usage !== undefined
      ? { 'gen_ai.usage.input_tokens': usage.inputTokens, 'gen_ai.usage.output_tokens': usage.outputTokens }
      : {}),
    ...(usage?.cachedTokens !== undefined ? { 'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens } : {}),
    ...(usage?.reasoningTokens !== undefined ? { 'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens } : {}),
    ...(cost !== undefined ? { 'gen_ai.usage.cost': cost } : {}),
  }
}
