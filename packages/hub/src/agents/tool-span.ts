/** One call of a tool as a span of the turn that makes it, in the words of OpenTelemetry's conventions for generative AI. */
import { A2AError } from '@parley/a2a'
import type { OpenSpan, Turn } from '@parley/a2a'

export interface ToolAbout {
  readonly name: string
  /** As the model numbered it. */
  readonly callId?: string
  /** Where it comes from: `extension` for what runs at another program, `function` for what runs here. */
  readonly type?: 'function' | 'extension'
}

/** Ends with the work: well, unless it throws or gives back something that says `isError`. */
export async function withToolSpan<T extends object>(
  turn: Pick<Turn, 'span' | 'signal'>,
  { name, callId, type }: ToolAbout,
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

/** What a call is told of the trace: the span that it belongs to, and what others keep beside it. */
export function traceMeta(span: OpenSpan, tracestate: string | undefined): Readonly<Record<string, string>> {
  return { traceparent: span.traceparent, ...(tracestate !== undefined ? { tracestate } : {}) }
}

function nameOf(reason: unknown): string {
  return reason instanceof Error ? reason.name : 'Error'
}
