/** An agent of the real Claude Agent SDK, with its program and a model on loopback, keeps the agent contract. */
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { fromClaude } from '@parley/a2a/adapters/claude'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import { z } from 'zod'
import { offlineOptions, openFolder } from './claude-options.ts'
import { openMessagesApi } from './messages-api.ts'

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
  const folder = openFolder()
  const model = await openMessagesApi(({ text, userTexts, toolResult, signal }) => {
    if (toolResult !== undefined) return { says: [`It is ${toolResult}`] }
    const [word, ...rest] = text.split(' ')
    switch (word) {
      case 'chat':
        return { says: ['you ', 'said ', `${rest.join(' ')}.`] }
      case 'long':
        return async () => {
          started.resolve()
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
          stopped.resolve()
        }
      case 'fail':
        return { error: 400, message: 'connection to host-7.internal refused' }
      case 'recall':
        return { says: [`You told me ${userTexts.join(', ')}`] }
      case 'ask':
        return { calls: [{ name: 'mcp__weather__weather', input: { city: 'Rome' } }] }
      case 'slow':
        return async (say) => {
          say('one ')
          started.resolve()
          await released.promise
          say('two ')
          say('three')
        }
      default:
        return { says: ['ok'] }
    }
  })
  const weather = tool('weather', 'The weather in a city', { city: z.string() }, async ({ city }) => ({
    content: [{ type: 'text', text: `sunny in ${city}` }],
  }))
  const agent = () =>
    fromClaude(
      {
        query,
        options: {
          ...offlineOptions(model.url, folder.path),
          mcpServers: { weather: createSdkMcpServer({ name: 'weather', tools: [weather] }) },
        },
      },
      { approve: ['mcp__weather__*'] },
    )
  return {
    agent: agent(),
    reopen: agent,
    started,
    stopped,
    released,
    async close() {
      released.resolve()
      await model.close()
      folder.remove()
    },
  }
}

agentContract('Claude Agent SDK', {
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
  // The program takes seconds to start.
  deadlineMs: 20_000,
  stepTimeoutMs: 120_000,
})
