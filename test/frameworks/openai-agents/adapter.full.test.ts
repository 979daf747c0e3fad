/** What `fromOpenAIAgents` makes of tools, approvals, handoffs, structured output, guardrails and files. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Agent, MemorySession, RunState, Runner, tool } from '@openai/agents-core'
import { ScriptedModel, assistantMessage, functionCall } from '@openai/agents-core/testing'
import { memoryStore, type Task, type Turn } from '@parley/a2a'
import { fromOpenAIAgents, type FromOpenAIAgentsOptions } from '@parley/a2a/adapters/openai-agents'
import { testAgent, type TestAgent } from '@parley/a2a/testing'
import { z } from 'zod'
import { spansOf, statusMetadata } from '../task-log.ts'
import { type OutputItem, type Script, calls, done, says, scriptedModel } from './scripted-model.ts'

type Configuration = Omit<ConstructorParameters<typeof Agent>[0], 'name' | 'model'>

function open(
  t: TestContext,
  script: Script,
  configuration: Configuration = {},
  options: Partial<FromOpenAIAgentsOptions> = {},
): TestAgent & { readonly store: ReturnType<typeof memoryStore> } {
  const store = memoryStore()
  const agent = new Agent({ name: 'Tested', model: scriptedModel(script), ...configuration })
  const opened = testAgent(fromOpenAIAgents(agent, { Runner, RunState, ...options }), { store })
  t.after(() => opened.close())
  return { ...opened, store }
}

async function send(
  agent: TestAgent,
  text: string,
  about: { taskId?: string; contextId?: string } = {},
): Promise<Task> {
  const answer = await agent.send(text, about)
  assert.ok('status' in answer)
  return answer
}

const textOf = ({ artifacts = [] }: Task): string =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')

const lookUp = tool({
  name: 'look_up',
  description: 'Looks up',
  parameters: z.object({ word: z.string() }),
  execute: async ({ word }) => `${word} is a word`,
})

describe('fromOpenAIAgents', () => {
  it('reports tool calls as status updates and spans, and model calls with tokens and cost', async (t) => {
    const script: Script = ({ toolOutput }) =>
      toolOutput === undefined ? calls('look_up', { word: 'sun' }) : says('done')
    const agent = open(t, script, { tools: [lookUp] }, { cost: (_, { inputTokens = 0 }) => inputTokens / 10 })
    const { id } = await send(agent, 'go')
    const reported = (await statusMetadata(agent.store, id)).flatMap(({ toolCall }) => toolCall ?? [])
    assert.deepEqual(reported, [
      { id: 'call-1', name: 'look_up', outcome: 'started', arguments: { word: 'sun' } },
      { id: 'call-1', name: 'look_up', outcome: 'succeeded', result: 'sun is a word' },
    ])
    const spans = await spansOf(agent.store, id)
    assert.deepEqual(
      spans.map(({ name, kind, outcome }) => [name, kind, outcome]),
      [
        ['chat scripted-model', 'model', 'ok'],
        ['execute_tool look_up', 'tool', 'ok'],
        ['chat scripted-model', 'model', 'ok'],
      ],
    )
    assert.deepEqual(spans[0]?.attributes, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.response.model': 'scripted-model',
      'gen_ai.response.finish_reasons': ['completed'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 4,
      'gen_ai.usage.reasoning.output_tokens': 2,
      'gen_ai.usage.cost': 1.2,
    })
  })

  it('asks for each of several approvals, and passes the reason of a rejection to the model', async (t) => {
    const ran: string[] = []
    const wipe = tool({
      name: 'wipe',
      description: 'Wipes a disk',
      parameters: z.object({ disk: z.string() }),
      needsApproval: true,
      execute: async ({ disk }) => {
        ran.push(disk)
        return `wiped ${disk}`
      },
    })
    let outputs = ''
    const script: Script = ({ toolOutput, items }) => {
      if (toolOutput === undefined)
        return [
          done(
            ...['a', 'b'].map((disk) => ({
              type: 'function_call' as const,
              callId: `call-${disk}`,
              name: 'wipe',
              arguments: JSON.stringify({ disk }),
              status: 'completed' as const,
            })),
          ),
        ]
      outputs = JSON.stringify(items)
      return says('done')
    }
    const agent = open(t, script, { tools: [wipe] })
    const first = await send(agent, 'go')
    assert.equal(first.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.match(JSON.stringify(first.status.message), /wipe \{\\"disk\\":\\"a\\"\}/)
    const about = { taskId: first.id, contextId: first.contextId ?? '' }
    const second = await send(agent, 'yes', about)
    assert.match(JSON.stringify(second.status.message), /wipe \{\\"disk\\":\\"b\\"\}/)
    assert.deepEqual(ran, [], 'the run continues after all answers')
    const refused = await agent.send({ parts: [{ data: { optionId: 'reject', reason: 'b is in use' } }] }, about)
    assert.ok('status' in refused)
    assert.equal(textOf(refused), 'done')
    assert.deepEqual(ran, ['a'])
    assert.match(outputs, /b is in use/)
  })

  it('reports structured output as data, and not its JSON as text', async (t) => {
    const script: Script = () => says('{"city":', '"Rome"}')
    const agent = open(t, script, { outputType: z.object({ city: z.string() }) as never })
    const { artifacts = [] } = await send(agent, 'go')
    assert.deepEqual(
      artifacts.flatMap(({ parts }) => parts),
      [{ data: { city: 'Rome' } }],
    )
  })

  it('separates messages of several model calls by a blank line', async (t) => {
    const script: Script = ({ toolOutput }) => {
      if (toolOutput !== undefined) return says('It is.')
      return [
        { type: 'output_text_delta', delta: 'I look it up.' },
        done(assistantMessage('I look it up.'), ...callItems('look_up', { word: 'sun' })),
      ]
    }
    const agent = open(t, script, { tools: [lookUp] })
    assert.equal(textOf(await send(agent, 'go')), 'I look it up.\n\nIt is.')
  })

  it('reports the text of a model that does not stream', async (t) => {
    const agent = open(t, () => [done(assistantMessage('at once'))])
    assert.equal(textOf(await send(agent, 'go')), 'at once')
  })

  it('ends as REJECTED when a guardrail trips, without its message', async (t) => {
    const agent = open(t, () => says('secret'), {
      inputGuardrails: [
        {
          name: 'no-secrets',
          runInParallel: false,
          execute: async () => ({ tripwireTriggered: true, outputInfo: 'host-7.internal' }),
        },
      ],
    })
    const { status, artifacts } = await send(agent, 'go')
    assert.equal(status.state, 'TASK_STATE_REJECTED')
    assert.doesNotMatch(JSON.stringify({ status, artifacts }), /host-7|secret"/)
  })

  it('reports reasoning only if the option asks for it', async (t) => {
    const script: Script = () => [
      { type: 'model', event: { type: 'response.reasoning_summary_text.delta', delta: 'Hm.' } },
      ...says('ok'),
    ]
    const thoughts = async (agent: ReturnType<typeof open>): Promise<unknown[]> => {
      const { id } = await send(agent, 'go')
      return (await statusMetadata(agent.store, id)).flatMap(({ thought }) => thought ?? [])
    }
    assert.deepEqual(await thoughts(open(t, script)), [])
    assert.deepEqual(await thoughts(open(t, script, {}, { reasoning: true })), ['Hm.'])
  })

  it('answers by the agent that a handoff selects', async (t) => {
    const specialist = new Agent({ name: 'Poet', model: scriptedModel(() => says('a poem')) })
    const agent = open(t, () => calls('transfer_to_Poet', {}), { handoffs: [specialist] })
    assert.equal(textOf(await send(agent, 'go')), 'a poem')
  })

  it('asks for each of two calls with the same id, of agents that are tools', async (t) => {
    const ran: string[] = []
    const cleaner = (name: string) => {
      const wipe = tool({
        name: 'wipe',
        description: 'Wipes a disk',
        parameters: z.object({ disk: z.string() }),
        needsApproval: true,
        execute: async ({ disk }) => {
          ran.push(disk)
          return 'wiped'
        },
      })
      const steps = [[functionCall('wipe', { disk: name }, { callId: 'inner-1' })], [assistantMessage('Done.')]]
      const inner = new Agent({ name, model: new ScriptedModel(steps), tools: [wipe] })
      return inner.asTool({ toolName: name, toolDescription: 'Cleans' })
    }
    const both = ['a', 'b'].map((name) => functionCall(name, { input: 'clean' }, { callId: `outer-${name}` }))
    const script: Script = ({ toolOutput }) => (toolOutput === undefined ? [done(...both)] : says('done'))
    const agent = open(t, script, { tools: [cleaner('a'), cleaner('b')] })
    const first = await send(agent, 'go')
    const about = { taskId: first.id, contextId: first.contextId ?? '' }
    const second = await send(agent, 'approve', about)
    assert.match(JSON.stringify(first.status.message), /wipe \{\\"disk\\":\\"a/)
    assert.match(JSON.stringify(second.status.message), /wipe \{\\"disk\\":\\"b/)
    await send(agent, 'reject', about)
    assert.deepEqual(ran, ['a'])
  })

  it('asks for the approval of a tool of an agent that is a tool', async (t) => {
    const ran: string[] = []
    const wipe = tool({
      name: 'wipe',
      description: 'Wipes a disk',
      parameters: z.object({}),
      needsApproval: true,
      execute: async () => {
        ran.push('wipe')
        return 'wiped'
      },
    })
    // An agent that is a tool does not stream.
    const steps = [[functionCall('wipe', {}, { callId: 'inner-1' })], [assistantMessage('The disk is empty.')]]
    const inner = new Agent({ name: 'Inner', model: new ScriptedModel(steps), tools: [wipe] })
    const script: Script = ({ toolOutput }) =>
      toolOutput === undefined ? calls('cleaner', { input: 'clean' }, 'outer-1') : says(toolOutput)
    const agent = open(t, script, { tools: [inner.asTool({ toolName: 'cleaner', toolDescription: 'Cleans' })] })
    const { id: taskId, contextId = '', status } = await send(agent, 'go')
    assert.match(JSON.stringify(status.message), /wipe/)
    assert.match(textOf(await send(agent, 'yes', { taskId, contextId })), /The disk is empty/)
    assert.deepEqual(ran, ['wipe'])
  })

  it('passes files on as images and files', async (t) => {
    let seen: unknown
    const script: Script = ({ items }) => {
      seen = items.at(-1)
      return says('ok')
    }
    const agent = open(t, script)
    await agent.send({
      parts: [
        { text: 'look' },
        { raw: 'AAAA', mediaType: 'image/png' },
        { raw: 'BBBB', mediaType: 'application/pdf', filename: 'a.pdf' },
        { data: { n: 1 } },
      ],
    })
    assert.deepEqual((seen as { content: unknown }).content, [
      { type: 'input_text', text: 'look' },
      { type: 'input_image', image: 'data:image/png;base64,AAAA' },
      { type: 'input_file', file: 'data:application/pdf;base64,BBBB', filename: 'a.pdf' },
      { type: 'input_text', text: '{"n":1}' },
    ])
  })

  it('gives the next task of a conversation the tool calls of this one', async (t) => {
    const seen: string[] = []
    const script: Script = ({ text, toolOutput, items }) => {
      seen.push(items.map((item) => ('type' in item ? item.type : 'message')).join(' '))
      return text === 'go' && toolOutput === undefined ? calls('look_up', { word: 'sun' }) : says('done')
    }
    const agent = open(t, script, { tools: [lookUp] })
    const { contextId = '' } = await send(agent, 'go')
    await send(agent, 'again', { contextId })
    assert.equal(seen.at(-1), 'message function_call function_call_result message message')
  })

  it('passes the context to tools, also after an approval', async (t) => {
    const seen: unknown[] = []
    const spy = tool({
      name: 'spy',
      description: 'Records its context',
      parameters: z.object({}),
      needsApproval: true,
      execute: async (_, run) => {
        seen.push(run?.context)
        return 'seen'
      },
    })
    const script: Script = ({ toolOutput }) => (toolOutput === undefined ? calls('spy', {}) : says('done'))
    const agent = open(t, script, { tools: [spy] }, { context: ({ tenant }) => ({ tenant, from: 'a2a' }) })
    const { id: taskId, contextId = '' } = await send(agent, 'go')
    await send(agent, 'yes', { taskId, contextId })
    assert.deepEqual(seen, [{ tenant: '', from: 'a2a' }])
  })

  it('keeps the conversation in the session of the user, if there is one, also over an approval', async (t) => {
    const sessions = new Map<string, MemorySession>()
    const session = ({ sessionKey }: Turn): MemorySession => {
      const known = sessions.get(sessionKey) ?? new MemorySession({ sessionId: sessionKey })
      sessions.set(sessionKey, known)
      return known
    }
    const wipe = tool({
      name: 'wipe',
      description: 'Wipes a disk',
      parameters: z.object({}),
      needsApproval: true,
      execute: async () => 'wiped',
    })
    const script: Script = ({ text, toolOutput, userTexts }) =>
      text === 'wipe' && toolOutput === undefined ? calls('wipe', {}) : says(userTexts.join(', '))
    const agent = open(t, script, { tools: [wipe] }, { session })
    const asked = await send(agent, 'wipe')
    const { contextId = '' } = asked
    await send(agent, 'yes', { taskId: asked.id, contextId })
    assert.equal(textOf(await send(agent, 'and then?', { contextId })), 'wipe, and then?')
    const [only] = [...sessions.values()]
    assert.equal(sessions.size, 1)
    assert.deepEqual(
      (await only?.getItems())?.map((item) => item.type ?? 'message'),
      ['message', 'function_call', 'function_call_result', 'message', 'message', 'message'],
    )
  })

  it('needs the classes of the package that the agent is from', () => {
    const agent = new Agent({ name: 'Alone' })
    assert.throws(() => fromOpenAIAgents(agent, {} as never), /needs Runner and RunState of @openai\/agents/)
  })
})

function callItems(name: string, input: object): readonly OutputItem[] {
  return [{ type: 'function_call', callId: 'call-1', name, arguments: JSON.stringify(input), status: 'completed' }]
}
