/** The scripted model of the OpenAI Agents SDK, which answers by what the last item asks for. */
import type { AgentInputItem, StreamEvent } from '@openai/agents-core'
import {
  ScriptedModel,
  assistantMessage,
  functionCall,
  modelStreamResponder,
  type RecordedModelCall,
} from '@openai/agents-core/testing'

export type OutputItem = Extract<StreamEvent, { type: 'response_done' }>['response']['output'][number]

/** Text in pieces. */
export function* says(...pieces: readonly string[]): Generator<StreamEvent> {
  yield { type: 'response_started' }
  for (const delta of pieces) yield { type: 'output_text_delta', delta }
  yield done(assistantMessage(pieces.join('')))
}

export function* calls(tool: string, input: Record<string, unknown>, callId = 'call-1'): Generator<StreamEvent> {
  yield { type: 'response_started' }
  yield done(functionCall(tool, input, { callId }))
}

export function done(...output: readonly OutputItem[]): StreamEvent {
  return {
    type: 'response_done',
    response: {
      id: 'response',
      output: [...output],
      usage: {
        requests: 1,
        inputTokens: 12,
        outputTokens: 5,
        totalTokens: 17,
        inputTokensDetails: { cached_tokens: 4 },
        outputTokensDetails: { reasoning_tokens: 2 },
      },
      providerData: { model: 'scripted-model', status: 'completed' },
    },
  }
}

/** The input as a model sees it, as far as scripts need it. */
export interface Prompt {
  /** The text of the last message of the user. */
  readonly text: string
  /** Everything that users wrote. */
  readonly userTexts: readonly string[]
  /** The last item is the output of a tool: its text. */
  readonly toolOutput: string | undefined
  readonly items: readonly AgentInputItem[]
  readonly signal: AbortSignal | undefined
}

export type Script = (prompt: Prompt) => Iterable<StreamEvent> | AsyncIterable<StreamEvent>

/** More calls than any test makes. */
const maxCalls = 50

export function scriptedModel(script: Script): ScriptedModel {
  return new ScriptedModel(
    Array.from({ length: maxCalls }, () => modelStreamResponder((call) => script(promptOf(call)))),
  )
}

function promptOf({ request: { input, signal } }: RecordedModelCall): Prompt {
  const items = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input
  const userTexts = items.flatMap((item) => ('role' in item && item.role === 'user' ? [textOf(item.content)] : []))
  const last = items.at(-1)
  const output = last !== undefined && 'type' in last && last.type === 'function_call_result' ? last.output : undefined
  const toolOutput = output === undefined ? undefined : JSON.stringify(output)
  return { text: userTexts.at(-1) ?? '', userTexts, toolOutput, items, signal }
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === 'string') return content
  return content.map(({ type, text }) => text ?? `[${type}]`).join('')
}
