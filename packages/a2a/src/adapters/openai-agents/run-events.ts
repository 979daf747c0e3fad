/** The OpenAI Agents SDK as far as the adapter uses it: by structure, so that nothing is imported. */
import type { ModelUsage } from '../adapter-options.ts'

/** An `Agent` of the OpenAI Agents SDK. `never`: the types of arguments belong to the package. */
export interface OpenAIAgent {
  readonly name: string
  readonly model?: unknown
  /** `text`, or the schema of a structured output. */
  readonly outputType?: unknown
  readonly handoffs: readonly unknown[]
  readonly tools: readonly unknown[]
  asTool(options: never): unknown
}

/** A `Runner` of the OpenAI Agents SDK. */
export interface OpenAIRunner {
  run(agent: never, input: never, options: never): PromiseLike<unknown>
}

/** A `RunState` of the OpenAI Agents SDK. */
export interface OpenAIRunState {
  toString(): string
  getInterruptions(): readonly unknown[]
  approve(item: never): void
  reject(item: never, options: never): void
}

/** What `run` with `stream: true` returns. */
export interface StreamedRun extends AsyncIterable<RunEvent> {
  readonly state: OpenAIRunState
  readonly completed: Promise<void>
  readonly interruptions: readonly Interruption[]
  /** Everything the model would see next: the input, and what the run added. */
  readonly history: readonly InputItem[]
  readonly finalOutput?: unknown
}

export interface RunOptions {
  readonly stream: true
  readonly signal: AbortSignal
  readonly callModelInputFilter: ModelInputFilter
  readonly context?: unknown
  readonly session?: unknown
  readonly maxTurns?: number
}

/** The SDK waits for it before each model call. */
export type ModelInputFilter = (call: { readonly modelData: unknown }) => Promise<unknown>

/** An item of a conversation, as JSON. */
export interface InputItem {
  readonly type?: string
  readonly role?: string
  readonly content?: string | readonly ContentItem[]
  readonly [name: string]: unknown
}

export interface ContentItem {
  readonly type: string
  readonly text?: string
  readonly refusal?: string
  readonly image?: unknown
  readonly audio?: unknown
  readonly format?: string | null
  readonly file?: unknown
  readonly filename?: string
  readonly [name: string]: unknown
}

/** A tool call that waits for an approval. */
export interface Interruption {
  readonly agent?: { readonly name?: string }
  readonly name?: string
  /** JSON text. */
  readonly arguments?: string
  readonly rawItem: { readonly callId?: string; readonly id?: string; readonly name?: string }
}

interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly inputTokensDetails?: TokenDetails
  readonly outputTokensDetails?: TokenDetails
}

type TokenDetails = Readonly<Record<string, number>> | readonly Readonly<Record<string, number>>[]

/** A finished model call. */
export interface ModelResponse {
  readonly usage?: Usage
  readonly output: readonly InputItem[]
  readonly providerData?: { readonly model?: unknown; readonly status?: unknown }
}

type ModelEvent =
  | { readonly type: 'output_text_delta'; readonly delta: string; readonly itemId?: string }
  | { readonly type: 'response_done'; readonly response: ModelResponse }
  | { readonly type: 'response_started' }
  /** An event of the provider. */
  | { readonly type: 'model'; readonly event?: { readonly type?: unknown; readonly delta?: unknown } }

export type RunEvent =
  | { readonly type: 'raw_model_stream_event'; readonly data: ModelEvent }
  | { readonly type: 'run_item_stream_event'; readonly name: string; readonly item: RunItem }
  | { readonly type: 'agent_updated_stream_event'; readonly agent: OpenAIAgent }

export interface RunItem {
  readonly rawItem: {
    readonly type?: string
    readonly callId?: string
    readonly id?: string
    readonly name?: string
    readonly arguments?: unknown
    readonly status?: string
    readonly content?: readonly ContentItem[]
  }
  /** Of a tool: what the model gets. */
  readonly output?: unknown
}

export function usageOf({ usage = {} }: ModelResponse): ModelUsage {
  return {
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cachedTokens: detail(usage.inputTokensDetails, 'cached_tokens'),
    reasoningTokens: detail(usage.outputTokensDetails, 'reasoning_tokens'),
  }
}

/** The details are one record or one per request. */
function detail(details: TokenDetails | undefined, name: string): number | undefined {
  const records = (Array.isArray(details) ? details : [details ?? {}]) as readonly Readonly<Record<string, number>>[]
  const counts = records.flatMap((record) => record[name] ?? [])
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
}

/** A guardrail stopped the run. Errors of the SDK have no codes, and two copies of a package share no classes. */
export function isGuardrailError(error: unknown): boolean {
  const result = (error as { readonly result?: { readonly guardrail?: unknown } } | undefined)?.result
  return error instanceof Error && typeof result?.guardrail === 'object'
}
