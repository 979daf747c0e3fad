/** A LangGraph graph, the events of its stream and its messages, by structure; and their translation into reports. */
import type { Part, Struct } from '../../model/task.ts'
import { isStruct } from '../../model/struct.ts'
import { boundedJson, boundedValue } from '../bounded-json.ts'
import type { RunRecorder } from '../run-recorder.ts'

/** A compiled graph of LangGraph. */
export interface LangGraphGraph {
  readonly lg_is_pregel: boolean
  readonly name?: string
  readonly checkpointer?: unknown
  /** `never`: the types of input and options belong to the package. */
  stream(input: never, options?: never): Promise<AsyncIterable<unknown>>
  getState(config: never): Promise<unknown>
}

/** An agent of LangGraph: a compiled graph, or what `createAgent` of LangChain returns. */
export type LangGraphAgent = LangGraphGraph | { readonly graph: LangGraphGraph }

/** What LangGraph says of a message in its stream. */
export interface MessageMetadata {
  readonly langgraph_node?: string
  readonly tags?: readonly string[]
  readonly [name: string]: unknown
}

/** `[namespace, mode, payload]`, as a stream of several modes with subgraphs has it. */
export type GraphEvent = readonly [namespace: readonly string[], mode: string, payload: unknown]

export interface GraphMessage {
  readonly id?: string
  readonly content: unknown
  readonly type?: string
  readonly getType?: () => string
  readonly usage_metadata?: {
    readonly input_tokens?: number
    readonly output_tokens?: number
    readonly input_token_details?: { readonly cache_read?: number }
    readonly output_token_details?: { readonly reasoning?: number }
  }
  readonly response_metadata?: Struct
}

export interface GraphInterrupt {
  readonly id?: string
  readonly value: unknown
  readonly response_schema?: unknown
}

/** What `getState` returns, as far as the adapter uses it. */
export interface GraphState {
  readonly values?: Readonly<Record<string, unknown>>
  readonly next?: readonly string[]
  readonly tasks?: readonly { readonly interrupts?: readonly GraphInterrupt[] }[]
  readonly config?: { readonly configurable?: { readonly checkpoint_id?: string } }
}

/** Of one event that a node writes to the custom stream. */
const maxCustomCharacters = 10_000

interface ToolEvent {
  readonly event: string
  readonly toolCallId?: string
  readonly name?: string
  readonly input?: unknown
  readonly data?: unknown
  readonly output?: unknown
}

/** Decides whether a message of the model is part of the answer. */
export type IsAnswer = (metadata: MessageMetadata) => boolean

/** Reports an event, except interrupts, which it returns. */
export function reportGraphEvent(
  [, mode, payload]: GraphEvent,
  out: RunRecorder,
  isAnswer: IsAnswer,
): readonly GraphInterrupt[] {
  switch (mode) {
    case 'messages': {
      const [message, metadata = {}] = payload as [GraphMessage, MessageMetadata?]
      if (messageType(message) === 'ai') reportMessage(message, out, isAnswer(metadata))
      return []
    }
    case 'tools':
      reportTool(payload as ToolEvent, out)
      return []
    case 'custom':
      if (typeof payload === 'string') out.progress(boundedJson(payload, maxCustomCharacters))
      else out.progress('', { custom: boundedValue(payload, maxCustomCharacters) })
      return []
    case 'updates': {
      out.modelStarted()
      const found = isStruct(payload) ? (payload as Readonly<Record<string, unknown>>)['__interrupt__'] : undefined
      return Array.isArray(found) ? (found as readonly GraphInterrupt[]) : []
    }
    default:
      return []
  }
}

/** Reports a message of the model, or a chunk of one. */
export function reportMessage(message: GraphMessage, out: RunRecorder, isAnswer: boolean): void {
  const { content, id, usage_metadata: usage, response_metadata: about = {} } = message
  if (isAnswer) {
    if (typeof content === 'string') out.text(content, id)
    else if (Array.isArray(content)) for (const block of content as readonly unknown[]) reportBlock(block, id, out)
  }
  if (usage === undefined) return
  out.modelEnded({
    model: firstText(about['model_name'], about['model']),
    finishReason: firstText(about['finish_reason'], about['stop_reason']),
    usage: {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cachedTokens: usage.input_token_details?.cache_read,
      reasoningTokens: usage.output_token_details?.reasoning,
    },
  })
}

function reportBlock(block: unknown, id: string | undefined, out: RunRecorder): void {
  if (typeof block === 'string') out.text(block, id)
  if (!isStruct(block)) return
  const { type, text, reasoning, thinking } = block
  if (type === 'text' && typeof text === 'string') out.text(text, id)
  else if (type === 'reasoning' && typeof reasoning === 'string') out.reasoning(reasoning)
  else if (type === 'thinking' && typeof thinking === 'string') out.reasoning(thinking)
  else {
    const part = filePart(block)
    if (part !== undefined) out.part(part)
  }
}

/** Standard content blocks of LangChain: images, audio, video and files by their data or their URL. */
function filePart({ type, data, url, mimeType, mime_type }: Struct): Part | undefined {
  if (typeof type !== 'string' || !['image', 'audio', 'video', 'file'].includes(type)) return undefined
  const mediaType = firstText(mimeType, mime_type)
  const about = mediaType === undefined ? {} : { mediaType }
  if (typeof data === 'string') return { raw: data, ...about }
  return typeof url === 'string' ? { url, ...about } : undefined
}

function reportTool({ event, toolCallId, name = 'tool', input, data, output }: ToolEvent, out: RunRecorder): void {
  const call = { id: toolCallId ?? name, name }
  if (event === 'on_tool_start') out.toolStarted(call, parsedInput(input))
  else if (event === 'on_tool_event') out.toolProgress(call, data)
  else if (event === 'on_tool_end') out.toolEnded({ ...call, outcome: 'succeeded', result: toolOutput(output) })
  // An interrupt within a tool arrives as an error: the tool runs again with the answer.
  else if (event === 'on_tool_error') out.toolEnded({ ...call, outcome: 'unknown' })
}

/** Tools get their input as JSON text. */
function parsedInput(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input) as unknown
  } catch {
    return input
  }
}

function toolOutput(output: unknown): unknown {
  return isStruct(output) && 'content' in output ? output['content'] : output
}

/** `ai`, `human`, `tool`, …: classes of two copies of the package have nothing else in common. */
export function messageType(message: GraphMessage): string | undefined {
  if (typeof message !== 'object' || message === null) return undefined
  return message.getType?.() ?? message.type
}

function firstText(...values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '')
}
