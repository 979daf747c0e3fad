/** An agent of the real Mastra, with the mock model of the AI SDK, keeps the agent contract. */
import { createTool } from '@mastra/core/tools'
import { Memory } from '@mastra/memory'
import { fromMastra } from '@parley/a2a/adapters/mastra'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import { z } from 'zod'
import { type Script, says } from '../ai-sdk/scripted-model.ts'
import { callsOnce, databaseFolder, storedAgent } from './stored-agent.ts'

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
        return callsOnce('weather', { city: 'Rome' })
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
  const weather = createTool({
    id: 'weather',
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    requireApproval: true,
    execute: async ({ city }) => `sunny in ${city}`,
  })
  const { folder, remove } = databaseFolder()
  const agent = () => fromMastra(storedAgent(folder, script, { tools: { weather }, memory: new Memory() }))
  const close = async (): Promise<void> => {
    released.resolve()
    remove()
  }
  return { agent: agent(), reopen: agent, started, stopped, released, close }
}

agentContract('Mastra', {
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
