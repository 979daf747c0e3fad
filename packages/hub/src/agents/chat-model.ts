/**
 * The interface of a language model for agents of this hub. It uses the terms of the chat completions API, which nearly
 * every provider supports: requests are sent as they are defined here.
 */
import type { AgentLog, Part, Struct, Turn } from '@parley/a2a'
import type { OpenSpan } from '@parley/a2a/internal'

export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ChatContent[] }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly ChatToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

export type ChatContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'input_audio'; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } }

export interface ChatToolCall {
  readonly id: string
  readonly type: 'function'
  /** `arguments` is JSON if the model produced it correctly. */
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ChatTool {
  /** At most 64 letters, digits, `_` and `-`. */
  readonly name: string
  readonly description: string
  readonly parameters: Struct
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  /** Overrides the default model. */
  readonly model?: string
  readonly responseFormat?: Struct
  /** Merged over the configured options. */
  readonly options?: Struct
  readonly signal: AbortSignal
  /** No attempt starts after this time, because the answer would come too late. Milliseconds since the epoch. */
  readonly deadlineAt?: number | undefined
  readonly log: AgentLog
  /** The trace that the call belongs to. Default: none. */
  readonly trace?: ModelTrace | undefined
}

/** The parts of a turn that its trace needs. */
export type ModelTrace = Pick<Turn, 'span' | 'tracestate'> & { readonly parent?: OpenSpan }

/** Text as it arrives, and the complete answer at the end. */
export type ChatEvent = { readonly text: string } | { readonly answer: ChatAnswer }

export interface ChatAnswer {
  readonly text: string
  readonly toolCalls: readonly ChatToolCall[]
  readonly finish: ChatFinish
  /** The model's reason for refusing, in its own words. */
  readonly refusal?: string
  readonly call: ModelCall
}

export type ChatFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** The result of one model call, for traces and billing. */
export interface ModelCall {
  readonly model: string
  readonly finishReason: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly durationMs: number
  readonly attempts: number
  readonly usage?: TokenUsage
}

export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly totalTokens: number
  /** Input tokens that the provider had cached. */
  readonly cachedTokens?: number
  /** Output tokens that are not part of the answer. */
  readonly reasoningTokens?: number
}

export interface ChatModel {
  /** Throws an A2AError whose message is for the caller and whose cause is for the operator. */
  ask(request: ChatRequest): AsyncIterable<ChatEvent>
  /** Converts parts of a message for this model. Throws CONTENT_TYPE_NOT_SUPPORTED if it cannot take one. */
  read(parts: readonly Part[], signal: AbortSignal): Promise<readonly ChatContent[]>
  /** Media types that `read` accepts. */
  readonly inputModes: readonly string[]
  /** Rejects if the model cannot be used now. Never calls the model. */
  health?(signal: AbortSignal): Promise<void>
}
