/** An agent of the real OpenAI Agents SDK, with the scripted model of the package, keeps the agent contract. */
import { Agent, RunState, Runner, tool } from '@openai/agents-core'
import { fromOpenAIAgents } from '@parley/a2a/adapters/openai-agents'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import { z } from 'zod'
import { type Script, calls, done, says, scriptedModel } from './scripted-model.ts'
import { assistantMessage } from '@openai/agents-core/testing'

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
  const script: Script = ({ text, userTexts, toolOutput, signal }) => {
    if (toolOutput !== undefined) return says(`It is sunny in ${toolOutput.match(/in (\w+)/)?.[1]}`)
    const [word, ...rest] = text.split(' ')
    switch (word) {
      case 'chat':
        return says('you ', 'said ', `${rest.join(' ')}.`)
      case 'long':
        return (async function* () {
          yield { type: 'response_started' } as const
          started.resolve()
          await new Promise((_, fail) =>
            signal?.addEventListener('abort', () => {
              stopped.resolve()
              fail(signal.reason)
            }),
          )
        })()
      case 'fail':
        throw new Error('connection to host-7.internal refused')
      case 'recall':
        return says(`You told me ${userTexts.join(', ')}`)
      case 'ask':
        return calls('weather', { city: 'Rome' })
      case 'slow':
        return (async function* () {
          yield { type: 'output_text_delta', delta: 'one ' } as const
          started.resolve()
          await released.promise
          for (const delta of ['two ', 'three']) yield { type: 'output_text_delta', delta } as const
          yield done(assistantMessage('one two three'))
        })()
      default:
        return says('ok')
    }
  }
  const weather = tool({
    name: 'weather',
    description: 'The weather in a city',
    parameters: z.object({ city: z.string() }),
    needsApproval: true,
    execute: async ({ city }) => `sunny in ${city}`,
  })
  const agent = () =>
    fromOpenAIAgents(new Agent({ name: 'Weather', model: scriptedModel(script), tools: [weather] }), {
      Runner,
      RunState,
    })
  return { agent: agent(), reopen: agent, started, stopped, released, close: async () => released.resolve() }
}

agentContract('OpenAI Agents', {
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
