/** The mock model of `ai/test`, which answers by what the last message asks for. */
import { MockLanguageModelV4, convertArrayToReadableStream } from 'ai/test'

type StreamResult = Awaited<ReturnType<MockLanguageModelV4['doStream']>>
type CallOptions = Parameters<MockLanguageModelV4['doStream']>[0]
type ModelPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never

export const usage = {
  inputTokens: { total: 12, noCache: 8, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
} as const

/** Text in pieces. */
export function says(...pieces: readonly string[]): readonly ModelPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r', modelId: 'mock-model', timestamp: new Date(0) },
    { type: 'text-start', id: 't' },
    ...pieces.map((delta) => ({ type: 'text-delta', id: 't', delta }) as const),
    { type: 'text-end', id: 't' },
    { type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage },
  ]
}

export function calls(toolName: string, input: object, toolCallId = 'call-1'): readonly ModelPart[] {
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) },
    { type: 'finish', finishReason: { unified: 'tool-calls', raw: 'tool_calls' }, usage },
  ]
}

/** The prompt as a model sees it, as far as scripts need it. */
export interface Prompt {
  /** The text of the last message of the user. */
  readonly text: string
  /** Everything that users wrote. */
  readonly userTexts: readonly string[]
  /** The last message is a tool result: its output. */
  readonly toolResult: unknown
  readonly signal: AbortSignal | undefined
}

export type Script = (prompt: Prompt) => readonly ModelPart[] | ReadableStream<ModelPart>

export function scriptedModel(script: Script): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    modelId: 'mock-model',
    doStream: async (options) => {
      const parts = script(promptOf(options))
      return { stream: Array.isArray(parts) ? convertArrayToReadableStream([...parts]) : (parts as ReadableStream) }
    },
  })
}

function promptOf({ prompt, abortSignal }: CallOptions): Prompt {
  const userTexts = prompt.flatMap((message) =>
    message.role === 'user'
      ? [message.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')]
      : [],
  )
  const last = prompt.at(-1)
  const result = last?.role === 'tool' ? last.content.findLast((part) => part.type === 'tool-result') : undefined
  return { text: userTexts.at(-1) ?? '', userTexts, toolResult: result?.output, signal: abortSignal }
}
