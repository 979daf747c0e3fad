/** The agent of Mastra and the chunks of its stream, as far as the adapter uses them: by structure, so that nothing is imported. */
import type { ModelUsage } from '../adapter-options.ts'

/** An `Agent` of Mastra. `never`: the types of arguments belong to the package. */
export interface MastraAgent {
  readonly component: string
  getMastraInstance(): unknown
  hasOwnMemory(): boolean
  stream(messages: never, options: never): PromiseLike<unknown>
  resumeStream(data: never, options: never): PromiseLike<unknown>
  approveToolCall(options: never): PromiseLike<unknown>
  declineToolCall(options: never): PromiseLike<unknown>
}

/** The memory of a conversation in Mastra. */
export interface MastraThread {
  /** The conversation. */
  readonly thread: string
  /** Whose conversation it is: Mastra may share memory between the threads of a resource. */
  readonly resource: string
}

/** What `stream()` and the methods that resume a run return. */
export interface MastraStream {
  readonly fullStream: AsyncIterable<StreamChunk>
}

/** The storage of a `Mastra`. */
export interface MastraStorage {
  readonly name?: string
  readonly stores?: { readonly workflows?: { readonly db?: { readonly workflows?: unknown } } }
  getStore?(name: 'workflows'): PromiseLike<WorkflowStore | undefined>
}

interface WorkflowStore {
  deleteWorkflowRunById?(run: { readonly runId: string; readonly workflowName: string }): PromiseLike<void>
}

interface ToolPayload {
  readonly toolCallId: string
  readonly toolName: string
  readonly args?: unknown
}

interface Usage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cachedInputTokens?: number
  readonly reasoningTokens?: number
}

interface Chunk<Type extends string, Payload> {
  readonly type: Type
  readonly payload: Payload
}

export type StreamChunk =
  | Chunk<'text-delta' | 'reasoning-delta', { readonly id: string; readonly text: string }>
  | Chunk<'tool-call', ToolPayload>
  | Chunk<'tool-result', ToolPayload & { readonly result?: unknown; readonly isError?: boolean }>
  | Chunk<'tool-error' | 'tool-output-denied', ToolPayload>
  | Chunk<'tool-output', Omit<ToolPayload, 'args'> & { readonly output?: unknown }>
  | Chunk<'tool-call-approval', ToolPayload>
  /** `resumeSchema` is JSON Schema in a string. */
  | Chunk<'tool-call-suspended', ToolPayload & { readonly suspendPayload?: unknown; readonly resumeSchema?: string }>
  | Chunk<
      'file',
      { readonly data?: unknown; readonly base64?: string; readonly mimeType?: string; readonly filename?: string }
    >
  | Chunk<'step-start', unknown>
  | Chunk<
      'step-finish',
      {
        readonly output: { readonly usage?: Usage }
        readonly stepResult?: { readonly reason?: string }
        readonly metadata?: { readonly modelId?: string }
      }
    >
  | { readonly type: 'object-result'; readonly object: unknown }
  | Chunk<'tripwire', { readonly reason?: string }>
  | Chunk<'abort', unknown>
  | Chunk<'error', { readonly error?: unknown }>

export function usageOf({
  inputTokens,
  outputTokens,
  cachedInputTokens: cachedTokens,
  reasoningTokens,
}: Usage = {}): ModelUsage {
  return { inputTokens, outputTokens, cachedTokens, reasoningTokens }
}
