/** Agents of the real LangChain and LangGraph packages keep the agent contract. */
import { MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { AIMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { fromLangGraph } from '@parley/a2a/adapters/langgraph'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import { createAgent } from 'langchain'
import { z } from 'zod'
import { approvals } from './approvals.ts'
import { type Script, ScriptedChatModel } from './scripted-chat-model.ts'

interface Probe {
  readonly started: PromiseWithResolvers<void>
  readonly stopped: PromiseWithResolvers<void>
  readonly released: PromiseWithResolvers<void>
}
type Bench = AgentUnderTest & Probe

const scriptFor = ({ started, stopped, released }: Probe): Script =>
  async function* ({ text, userTexts, toolResult, signal }) {
    const [word, ...rest] = text.split(' ')
    if (toolResult !== undefined) yield `It is ${toolResult}`
    else if (word === 'chat') yield* ['you ', 'said ', `${rest.join(' ')}.`]
    else if (word === 'fail') throw new Error('connection to host-7.internal refused')
    else if (word === 'recall') yield `You told me ${userTexts.join(', ')}`
    else if (word === 'ask') yield { tool: 'weather', args: { city: 'Rome' } }
    else if (word === 'long') {
      started.resolve()
      await new Promise<void>((_, reject) => {
        signal?.addEventListener('abort', () => {
          stopped.resolve()
          reject(signal.reason as Error)
        })
      })
    } else if (word === 'slow') {
      yield 'one '
      started.resolve()
      await released.promise
      yield* ['two ', 'three']
    } else yield 'ok'
  }

function benchOf(build: (script: Script) => Parameters<typeof fromLangGraph>[0]): () => Promise<Bench> {
  return async () => {
    const probe = {
      started: Promise.withResolvers<void>(),
      stopped: Promise.withResolvers<void>(),
      released: Promise.withResolvers<void>(),
    }
    const agent = () => fromLangGraph(build(scriptFor(probe)))
    return { ...probe, agent: agent(), reopen: agent, close: async () => probe.released.resolve() }
  }
}

const exchanges: Omit<Parameters<typeof agentContract<Bench>>[1], 'open'> = {
  chat: { text: 'chat sunshine', answer: 'you said sunshine.', pieces: 3 },
  each: (word) => ({ text: `chat ${word}`, answer: `you said ${word}.` }),
  long: { text: 'long', begun: ({ started }) => started.promise, stopped: ({ stopped }) => stopped.promise },
  failing: { text: 'fail', shown: 'The agent failed', hidden: 'host-7.internal' },
  memory: { tell: 'remember 42', ask: 'recall', expects: '42' },
  resume: 'rerun',
  slow: {
    text: 'slow',
    answer: /^one two three$/,
    begun: ({ started }) => started.promise,
    release: ({ released }) => released.resolve(),
  },
}

const weather = tool(async ({ city }) => `sunny in ${city}`, {
  name: 'weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
})

agentContract('LangChain createAgent with humanInTheLoopMiddleware', {
  ...exchanges,
  open: benchOf((script) =>
    createAgent({
      model: new ScriptedChatModel(script),
      tools: [weather],
      middleware: [approvals({ weather: true })],
    }),
  ),
  question: { text: 'ask', asks: /weather \{"city":"Rome"\}/, answer: 'yes', then: 'sunny in Rome' },
})

agentContract('LangGraph with interrupt()', {
  ...exchanges,
  open: benchOf((script) => {
    const model = new ScriptedChatModel(script)
    return new StateGraph(MessagesAnnotation)
      .addNode('answer', async ({ messages }, config) => {
        if (messages.at(-1)?.text === 'ask') {
          const city = interrupt('Which city?') as string
          return { messages: [new AIMessage(`It is sunny in ${city}`)] }
        }
        return { messages: [await model.invoke(messages, config)] }
      })
      .addEdge(START, 'answer')
      .compile()
  }),
  question: { text: 'ask', asks: 'Which city?', answer: 'Rome', then: 'sunny in Rome' },
})
