/** The mock model of the AI SDK, so that the example needs no key: it calls the tool once, then tells the result. */
import { MockLanguageModelV4, convertArrayToReadableStream } from 'ai/test'

type Stream = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream']
type ModelPart = Stream extends ReadableStream<infer Part> ? Part : never

const usage = {
  inputTokens: { total: 20, noCache: 20, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 8, text: 8, reasoning: undefined },
}

export function offlineModel(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    modelId: 'offline',
    doStream: async ({ prompt }) => {
      const last = prompt.at(-1)
      const result = last?.role === 'tool' ? last.content.find((part) => part.type === 'tool-result') : undefined
      const call = JSON.stringify({ invoice: 'INV-7', amount: 42 })
      return {
        stream: convertArrayToReadableStream<ModelPart>(
          result === undefined
            ? [
                { type: 'stream-start', warnings: [] },
                { type: 'tool-call', toolCallId: 'call-1', toolName: 'pay', input: call },
                { type: 'finish', finishReason: { unified: 'tool-calls', raw: undefined }, usage },
              ]
            : [
                { type: 'stream-start', warnings: [] },
                { type: 'text-start', id: '1' },
                { type: 'text-delta', id: '1', delta: 'Done: ' },
                {
                  type: 'text-delta',
                  id: '1',
                  delta: 'value' in result.output ? String(result.output.value) : 'nothing',
                },
                { type: 'text-end', id: '1' },
                { type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage },
              ],
        ),
      }
    },
  })
}
