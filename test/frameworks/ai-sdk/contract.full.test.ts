/** An agent of the real AI SDK, with the mock model of the package, keeps the agent contract. */
import { fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import { ToolLoopAgent, tool } from 'ai'
import { z } from 'zod'
import { type Script, calls, says, scriptedModel } from './scripted-model.ts'

interface Bench extends AgentUnderTest {
  readonly started: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly released: PromiseWithResolvers<void>
}

async function open(): Promise<Bench> {
  const [started, stopped, released] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
    PromiseWithResolvers<void>,
  ]
  const script: Script = ({ text, userTexts, toolResult, signal }) => {
    if (toolResult !== undefined) return says(`It is sunny in ${JSON.stringify(toolResult).match(/in (\w+)/)?.[1]}`)
    const [word, ...rest] = text.split(' ')
    switch (word) {
      case 'chat':
        return says('you ', 'said ', `${rest.join(' ')}.`)
      case 'long':
        return new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] })
            started.resolve()
            signal?.addEventListener('abort', () => {
              stopped.resolve()
              controller.error(signal.reason)
            })
          },
        })
      case 'fail':
        throw new Error('connection to host-7.internal refused')
      case 'recall':
        return says(`You told me ${userTexts.join(', ')}`)
      case 'ask':
        return calls('weather', { city: 'Rome' })
      case 'slow':
        return new ReadableStream({
          async start(controller) {
            const [head, meta, begin, ...pieces] = says('one ', 'two ', 'three')
            for (const part of [head, meta, begin, pieces[0]]) controller.enqueue(part!)
            started.resolve()
            await released.promise
            for (const part of pieces.slice(1)) controller.enqueue(part)
            controller.close()
          },
        })
      default:
        return says('ok')
    }
  }
  const weather = tool({
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    needsApproval: true,
    execute: async ({ city }) => `sunny in ${city}`,
  })
  const agent = () => fromAiSdk(new ToolLoopAgent({ model: scriptedModel(script), tools: { weather } }))
  return { agent: agent(), reopen: agent, started, stopped, released, close: async () => released.resolve() }
}

agentContract('AI SDK', {
  open,
  chat: { text: 'chat sunshine', answer: 'you said sunshine.', pieces: 3 },
  each: (word) => ({ text: `chat ${word}`, answer: `you said ${word}.` }),
  long: { text: 'long', begun: ({ started }) => started.promise, stopped: ({ stopped }) => stopped.promise },
  failing: { text: 'fail', shown: 'The agent failed', hidden: 'host-7.internal' },
  memory: { tell: 'remember 42', ask: 'recall', expects: '42' },
  question: { text: 'ask', asks: /weather \{"city":"Rome"\}/, answer: 'yes', then: 'sunny in Rome' },
  resume: 'rerun',
  slow: {
    text: 'slow',
    answer: /^one two three$/,
    begun: ({ started }) => started.promise,
    release: ({ released }) => released.resolve(),
  },
})
