/** The agent of the AI SDK and the parts of its stream, as far as the adapter uses them: by structure, so that nothing is imported. */
import type { ModelUsage } from '../adapter-options.ts'

/**
 * An agent of the AI SDK: a `ToolLoopAgent`, or any object that implements its `Agent` interface.
 */
export interface AiSdkAgent {
  readonly version: 'agent-v1'
  readonly id?: string | undefined
  readonly tools?: unknown
  /** `never`: the types of prompts and call options belong to the package. */
  stream(options: never): PromiseLike<AiSdkStreamResult>
}

/** What `agent.stream()` returns, as far as the adapter uses it. */
export interface AiSdkStreamResult {
  readonly stream?: AsyncIterable<unknown>
  readonly fullStream?: AsyncIterable<unknown>
  readonly output?: PromiseLike<unknown>
  /** What the run added to the messages. */
  readonly responseMessages: PromiseLike<readonly unknown[]>
}

export interface StreamOptions {
  readonly messages: readonly ModelMessage[]
  readonly abortSignal: AbortSignal
  readonly onStepStart: (step: {
    readonly stepNumber: number
    readonly messages: readonly ModelMessage[]
  }) => Promise<void>
  readonly options?: unknown
}

/** A message of the AI SDK, as JSON. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly ContentPart[]
}

export interface ContentPart {
  readonly type: string
  readonly text?: string
  readonly toolCallId?: string
  readonly approvalId?: string
  readonly data?: unknown
  readonly mediaType?: string
  readonly filename?: string
  readonly [name: string]: unknown
}

interface ToolPart {
  readonly toolCallId: string
  readonly toolName: string
}

interface Usage {
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined }
  readonly outputTokenDetails?: { readonly reasoningTokens?: number | undefined }
}

export type StreamPart =
  | { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; readonly text: string }
  | ({ readonly type: 'tool-call'; readonly input: unknown; readonly providerExecuted?: boolean } & ToolPart)
  | ({ readonly type: 'tool-result'; readonly output: unknown; readonly preliminary?: boolean } & ToolPart)
  | ({ readonly type: 'tool-error'; readonly error: unknown } & ToolPart)
  | ({ readonly type: 'tool-output-denied' } & ToolPart)
  | {
      readonly type: 'tool-approval-request'
      readonly approvalId: string
      readonly toolCall: ToolPart & { readonly input: unknown }
      readonly reason?: string
      readonly isAutomatic?: boolean
    }
  | { readonly type: 'file'; readonly file: { readonly base64: string; readonly mediaType: string } }
  | { readonly type: 'start-step' }
  | {
      readonly type: 'finish-step'
      readonly usage: Usage
      readonly finishReason: string
      readonly response: { readonly modelId?: string }
    }
  | { readonly type: 'abort' }
  | { readonly type: 'error'; readonly error: unknown }
  /** Parts that the adapter does not report. */
  | { readonly type: 'start' | 'finish' | 'raw' | 'source' }

export function usageOf({ inputTokens, outputTokens, inputTokenDetails, outputTokenDetails }: Usage): ModelUsage {
  return {
    inputTokens,
    outputTokens,
    cachedTokens: inputTokenDetails?.cacheReadTokens,
    reasoningTokens: outputTokenDetails?.reasoningTokens,
  }
}
