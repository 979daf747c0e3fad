/** The events of a run of the OpenAI Agents SDK, as reports of the turn. */
import type { Json } from '../../model/task.ts'
import { toJson } from '../bounded-json.ts'
import type { RunRecorder } from '../run-recorder.ts'
import { filesOfItems, textOfItems } from './input-items.ts'
import { usageOf, type ModelResponse, type OpenAIAgent, type RunEvent, type RunItem } from './run-events.ts'

/** Translates the events of a run. `onResponse` is called after the last event of a model call, with its index. */
export function eventReporter(
  first: OpenAIAgent,
  out: RunRecorder,
  onResponse: (index: number) => void,
): (event: RunEvent) => void {
  let agent = first
  let responses = 0
  let hasText = false
  let hasReasoning = false
  const toolNames = new Map<string, string>()
  return (event) => {
    if (event.type === 'agent_updated_stream_event') {
      agent = event.agent
      return
    }
    if (event.type === 'run_item_stream_event') {
      reportItem(event.name, event.item)
      return
    }
    const { data } = event
    if (data.type === 'output_text_delta') {
      hasText = true
      if (!isStructured(agent)) out.text(data.delta, `${responses}:${data.itemId ?? ''}`)
    } else if (data.type === 'response_done') {
      reportResponse(data.response)
      onResponse(responses)
      responses += 1
    } else if (data.type === 'model') {
      const delta = reasoningDelta(data.event)
      if (delta === undefined) return
      hasReasoning = true
      out.reasoning(delta)
    }
  }

  function reportResponse(response: ModelResponse): void {
    if (!hasText && !isStructured(agent))
      for (const text of textOfItems(response.output)) out.text(text, `${responses}:`)
    for (const part of filesOfItems(response.output)) out.part(part)
    const { model, status } = response.providerData ?? {}
    const named = typeof agent.model === 'string' && agent.model !== '' ? agent.model : undefined
    out.modelEnded({
      model: typeof model === 'string' ? model : named,
      usage: usageOf(response),
      finishReason: typeof status === 'string' ? status : undefined,
    })
    hasText = false
  }

  function reportItem(kind: string, { rawItem, output }: RunItem): void {
    const id = rawItem.callId ?? rawItem.id ?? ''
    if (kind === 'tool_called') {
      const name = rawItem.name ?? rawItem.type ?? 'tool'
      toolNames.set(id, name)
      out.toolStarted({ id, name }, parseArguments(rawItem.arguments))
    } else if (kind === 'tool_output') {
      const name = toolNames.get(id) ?? rawItem.name ?? 'tool'
      out.toolEnded({ id, name, outcome: rawItem.status === 'incomplete' ? 'failed' : 'succeeded', result: output })
    } else if (kind === 'handoff_requested') {
      out.progress(`Handing off: ${rawItem.name ?? ''}`)
    } else if (kind === 'reasoning_item_created' && !hasReasoning) {
      for (const { text } of rawItem.content ?? []) if (text !== undefined) out.reasoning(text)
    }
  }
}

function isStructured({ outputType }: OpenAIAgent): boolean {
  return outputType !== undefined && outputType !== 'text'
}

/** Reasoning is streamed only in events of the provider: these are of the Responses API. */
function reasoningDelta(event: { readonly type?: unknown; readonly delta?: unknown } = {}): string | undefined {
  const isReasoning = typeof event.type === 'string' && /^response\.reasoning_(summary_)?text\.delta$/.test(event.type)
  return isReasoning && typeof event.delta === 'string' ? event.delta : undefined
}

/** The arguments of a tool call, which the SDK gives as JSON text. */
export function parseArguments(given: unknown): Json | undefined {
  if (given === undefined || given === '') return undefined
  if (typeof given !== 'string') return toJson(given)
  try {
    return JSON.parse(given) as Json
  } catch {
    return given
  }
}
