/**
 * What a language model is to the agents of this hub that think with one. In the words of the chat completions API, which
 * nearly every provider speaks: what it is told is sent as it stands here.
 */
import type { AgentLog, OpenSpan, Part, Struct, Turn } from '@parley/a2a'

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
  /** `arguments` is JSON if the model got it right. */
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
  /** Another than the usual one. */
  readonly model?: string
  readonly responseFormat?: Struct
  /** Laid over the options that the model is configured with. */
  readonly options?: Struct
  readonly signal: AbortSignal
  /** Nobody waits for an answer after this, so no try begins then. Milliseconds since the epoch. */
  readonly deadlineAt?: number | undefined
  readonly log: AgentLog
  /** Whose trace the call belongs to. Left out: nobody's. */
  readonly trace?: Tracing | undefined
}

/** A turn, as far as its trace goes. */
export type Tracing = Pick<Turn, 'span' | 'tracestate'> & { readonly parent?: OpenSpan }

/** Text as it comes, and at the end the answer as a whole. */
export type ChatEvent = { readonly text: string } | { readonly answer: ChatAnswer }

export interface ChatAnswer {
  readonly text: string
  readonly toolCalls: readonly ChatToolCall[]
  readonly finish: ChatFinish
  /** Why it will not answer, in its own words. */
  readonly refusal?: string
  readonly call: ModelCall
}

export type ChatFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** What one call of a model came to: for traces and bills. */
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
  /** Those of the input that the provider still knew. */
  readonly cachedTokens?: number
  /** Those of the output that nobody sees. */
  readonly reasoningTokens?: number
}

export interface ChatModel {
  /** Throws an A2AError whose message is for the caller and whose cause is for the operator. */
  ask(request: ChatRequest): AsyncIterable<ChatEvent>
  /** What parts of a message are to this model; CONTENT_TYPE_NOT_SUPPORTED where it cannot take one. */
  read(parts: readonly Part[], signal: AbortSignal): Promise<readonly ChatContent[]>
  /** Media types that `read` takes. */
  readonly inputModes: readonly string[]
}
