/** What `fromMastra` makes of suspended tools, approvals, structured output, processors and storage. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { createTool } from '@mastra/core/tools'
import { Memory } from '@mastra/memory'
import { memoryStore, type Task } from '@parley/a2a'
import { fromMastra, type FromMastraOptions } from '@parley/a2a/adapters/mastra'
import { testAgent, type TestAgent } from '@parley/a2a/testing'
import { z } from 'zod'
import { calls, says, scriptedModel, type Script } from '../ai-sdk/scripted-model.ts'
import { spansOf, statusMetadata } from '../task-log.ts'
import { callsOnce, databaseFolder, storedAgent } from './stored-agent.ts'

type Configuration = Parameters<typeof storedAgent>[2]

interface Opened extends TestAgent {
  readonly store: ReturnType<typeof memoryStore>
  readonly mastra: Agent
}

function open(t: TestContext, script: Script, configuration?: Configuration, options?: FromMastraOptions): Opened {
  const store = memoryStore()
  const { folder, remove } = databaseFolder()
  const mastra = storedAgent(folder, script, configuration)
  const opened = testAgent(fromMastra(mastra, options), { store })
  t.after(async () => {
    await opened.close()
    remove()
  })
  return { ...opened, store, mastra }
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

const weather = (requireApproval: boolean) =>
  createTool({
    id: 'weather',
    description: 'The weather in a city',
    inputSchema: z.object({ city: z.string() }),
    requireApproval,
    execute: async ({ city }) => `sunny in ${city}`,
  })

describe('fromMastra', () => {
  it('asks for what a suspended tool needs, by a form, and asks again after an invalid answer', async (t) => {
    const book = createTool({
      id: 'book',
      description: 'Books a table',
      inputSchema: z.object({}),
      suspendSchema: z.object({ question: z.string() }),
      resumeSchema: z.object({ guests: z.number() }),
      execute: async (_, { agent }) => {
        const { guests } = (agent?.resumeData ?? {}) as { guests?: number }
        return guests === undefined ? agent?.suspend({ question: 'For how many?' }) : `a table for ${guests}`
      },
    })
    const script: Script = ({ toolResult }) =>
      toolResult === undefined ? callsOnce('book', {}) : says(JSON.stringify(toolResult))
    const agent = open(t, script, { tools: { book }, memory: new Memory() })
    const asked = await send(agent, 'go')
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const [text, form] = asked.status.message?.parts ?? []
    assert.match(text !== undefined && 'text' in text ? text.text : '', /^For how many\?/)
    assert.partialDeepStrictEqual(form, {
      data: { requestedSchema: { properties: { guests: { type: 'number' } }, required: ['guests'] } },
    })
    const about = { taskId: asked.id, contextId: asked.contextId ?? '' }
    const again = await send(agent, 'many', about)
    assert.equal(again.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const done = await send(agent, '4', about)
    assert.match(textOf(done), /a table for 4/)
  })

  it('asks for several approvals one after the other, and passes the reason of a rejection to the model', async (t) => {
    const script: Script = ({ toolResult }) => {
      if (toolResult !== undefined) return says(JSON.stringify(toolResult))
      const [head, rome, end] = calls('weather', { city: 'Rome' }, 'call-rome')
      const [, oslo] = calls('weather', { city: 'Oslo' }, 'call-oslo')
      return [head!, rome!, oslo!, end!]
    }
    const agent = open(t, script, { tools: { weather: weather(true) } })
    const first = await send(agent, 'go')
    assert.match(JSON.stringify(first.status.message), /Rome/)
    const about = { taskId: first.id, contextId: first.contextId ?? '' }
    const second = await send(agent, 'yes', about)
    assert.match(JSON.stringify(second.status.message), /Oslo/)
    const done = await agent.send({ parts: [{ data: { optionId: 'reject', reason: 'too cold' } }] }, about)
    assert.ok('status' in done)
    assert.match(textOf(done), /too cold/)
    const ended = (await statusMetadata(agent.store, first.id))
      .flatMap(({ toolCall }) => (toolCall ?? []) as { id: string; outcome: string }[])
      .filter(({ outcome }) => outcome !== 'started')
    assert.deepEqual(
      ended.map(({ id, outcome }) => [id, outcome]),
      [
        ['call-rome', 'succeeded'],
        ['call-oslo', 'failed'],
      ],
    )
  })

  it('continues a run that waits, after another task of the conversation', async (t) => {
    const script: Script = ({ text, toolResult }) => {
      if (toolResult !== undefined) return says(JSON.stringify(toolResult))
      return text === 'go' ? callsOnce('weather', { city: 'Rome' }) : says('meanwhile')
    }
    const agent = open(t, script, { tools: { weather: weather(true) }, memory: new Memory() })
    const { id: taskId, contextId = '' } = await send(agent, 'go')
    assert.equal(textOf(await send(agent, 'hello', { contextId })), 'meanwhile')
    const done = await send(agent, 'yes', { taskId, contextId })
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
    assert.match(textOf(done), /sunny in Rome/)
  })

  it('reports tool calls and model calls as spans, with tokens counted once over an approval', async (t) => {
    const script: Script = ({ toolResult }) =>
      toolResult === undefined ? calls('weather', { city: 'Rome' }, 'call-1') : says('done')
    const agent = open(t, script, { tools: { weather: weather(true) } })
    const { id: taskId, contextId = '' } = await send(agent, 'go')
    await send(agent, 'yes', { taskId, contextId })
    const all = await spansOf(agent.store, taskId)
    assert.deepEqual(
      all.flatMap(({ name, kind, outcome }) => (kind === 'tool' ? [[name, outcome]] : [])),
      [
        ['execute_tool weather', 'canceled'],
        ['execute_tool weather', 'ok'],
      ],
      'the call did not run before it was approved',
    )
    const spans = all.filter(({ kind }) => kind === 'model')
    assert.deepEqual(
      spans.map(({ name, attributes }) => [name, attributes?.['gen_ai.response.finish_reasons']]),
      [
        ['chat mock-model', ['tool-calls']],
        ['chat mock-model', ['stop']],
      ],
    )
    assert.partialDeepStrictEqual(spans.at(-1)?.attributes, {
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 4,
    })
  })

  it('reports structured output as data, and not its JSON as text', async (t) => {
    const schema = z.object({ city: z.string() })
    const agent = open(t, () => says('{"city":', '"Rome"}'), {}, { structuredOutput: { schema } })
    const { artifacts = [] } = await send(agent, 'go')
    assert.deepEqual(
      artifacts.flatMap(({ parts }) => parts),
      [{ data: { city: 'Rome' } }],
    )
  })

  it('ends as REJECTED when a processor of the agent stops the request', async (t) => {
    const guard = {
      id: 'guard',
      processInput: ({ abort }: { abort: (reason: string) => never }) => abort('found host-7.internal'),
    }
    const agent = open(t, () => says('answer'), { inputProcessors: [guard] })
    const { status, artifacts } = await send(agent, 'go')
    assert.equal(status.state, 'TASK_STATE_REJECTED')
    assert.doesNotMatch(JSON.stringify({ status, artifacts }), /host-7|answer/)
  })

  it('gives an agent without memory the conversation so far', async (t) => {
    const agent = open(t, ({ userTexts }) => says(userTexts.join(', ')), {})
    const { contextId = '' } = await send(agent, 'one')
    assert.equal(textOf(await send(agent, 'two', { contextId })), 'one, two')
  })

  it('passes files on', async (t) => {
    const agent = open(t, ({ text }) => says(text), {})
    const done = await agent.send({ parts: [{ text: 'look ' }, { raw: 'AAAA', mediaType: 'image/png' }] })
    assert.ok('status' in done)
    assert.equal(textOf(done), 'look [file]')
  })

  it('deletes the stored run when its task is canceled while it waits', async (t) => {
    const agent = open(t, () => callsOnce('weather', { city: 'Rome' }), { tools: { weather: weather(true) } })
    const { id } = await send(agent, 'go')
    const stored = async (): Promise<number> => {
      const workflows = await agent.mastra.getMastraInstance()?.getStorage()?.getStore('workflows')
      return (await workflows?.listWorkflowRuns())?.runs.length ?? 0
    }
    assert.ok((await stored()) > 0)
    await agent.cancel(id)
    assert.equal(await stored(), 0)
  })

  it('refuses an agent without durable storage, and gives the reason', () => {
    const alone = (): Agent =>
      new Agent({ id: 'a', name: 'A', instructions: '', model: scriptedModel(() => says('')) as never })
    assert.throws(() => fromMastra(alone()), /the agent has no storage, so a run that waits .* cannot be resumed/)
    const byDefault = new Mastra({ agents: { agent: alone() }, logger: false })
    const inMemory = new Mastra({ agents: { agent: alone() }, storage: new InMemoryStore(), logger: false })
    for (const mastra of [byDefault, inMemory])
      assert.throws(
        () => fromMastra(mastra.getAgent('agent')),
        /the storage of Mastra is in memory, .* lost with the process/,
      )
  })
})
