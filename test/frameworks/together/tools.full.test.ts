/** Agents of Mastra and of the OpenAI Agents SDK that call another agent through A2A, which asks questions. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { createTool } from '@mastra/core/tools'
import { Memory } from '@mastra/memory'
import { Agent as OpenAIAgent, RunState, Runner, tool } from '@openai/agents-core'
import { inputRequired, memoryStore, status, type Agent } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { a2aTool as a2aMastraTool, fromMastra } from '@parley/a2a/adapters/mastra'
import { a2aTool as a2aOpenAITool, fromOpenAIAgents } from '@parley/a2a/adapters/openai-agents'
import { connect, type RemoteAgent } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'
import { says } from '../ai-sdk/scripted-model.ts'
import { callsOnce, databaseFolder, storedAgent } from '../mastra/stored-agent.ts'
import * as openAI from '../openai-agents/scripted-model.ts'

async function served(t: TestContext, name: string, agent: Agent): Promise<{ url: string; store: FullStore }> {
  const store = memoryStore()
  const server = await serve({ name, description: `${name} for tests`, agent, store, port: 0, quiet: true })
  t.after(() => server.close())
  return { url: server.url, store }
}

/** Asks for the city, then for the number of guests by a form. */
const booking: Agent = async function* ({ text, message, lastCheckpoint, checkpoint }) {
  if (lastCheckpoint === undefined) {
    await checkpoint({})
    yield status('looking for hotels')
    yield inputRequired('Which city?')
    return
  }
  const { city } = lastCheckpoint as { city?: string }
  if (city === undefined) {
    await checkpoint({ city: text })
    const requestedSchema = { type: 'object', properties: { guests: { type: 'integer' } }, required: ['guests'] }
    yield inputRequired({ parts: [{ text: 'How many guests?' }, { data: { requestedSchema } }] })
    return
  }
  const data = message.parts.flatMap((part) => ('data' in part ? [part.data] : []))
  yield `Booked for ${data.length > 0 ? JSON.stringify(data[0]) : text} in ${city}`
}

async function messagesOf(store: FullStore): Promise<number> {
  const { tasks } = await store.tasks.search({ limit: 100 })
  const logs = await Promise.all(tasks.map(({ id }) => store.tasks.read(id, 0)))
  return logs.flat().filter(({ body }) => body.type === 'message').length
}

/** Answers both questions, and returns the text of the task. */
async function converse(caller: RemoteAgent): Promise<string> {
  const first = await caller.send('Book me a hotel')
  assert.ok(first.kind === 'task')
  assert.equal(first.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(first))
  assert.match(JSON.stringify(first.status.message), /Which city\?/)
  const about = { taskId: first.id, contextId: first.contextId ?? '' }
  const second = await caller.send('Rome', about)
  assert.ok(second.kind === 'task')
  assert.match(JSON.stringify(second.status.message), /How many guests\?.*requestedSchema.*guests/)
  const done = await caller.send({ parts: [{ data: { guests: 2 } }] }, about)
  assert.ok(done.kind === 'task')
  assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
  return JSON.stringify(done.artifacts)
}

it('suspends a tool of Mastra with each question of the remote agent', async (t) => {
  const inner = await served(t, 'Booking', booking)
  const book = await a2aMastraTool(inner.url, { createTool })
  const { folder, remove } = databaseFolder()
  t.after(remove)
  const agent = storedAgent(
    folder,
    ({ toolResult }) =>
      toolResult === undefined ? callsOnce('book', { message: 'a hotel' }) : says(JSON.stringify(toolResult)),
    { tools: { book: book as never }, memory: new Memory() },
  )
  const outer = await served(t, 'Travel', fromMastra(agent))
  assert.match(await converse(await connect(outer.url)), /Booked for .*guests.*2.* in Rome/)
  assert.equal(await messagesOf(inner.store), 3, 'the tool started three times, and sent each message once')
})

it('asks the caller of an OpenAI agent what the remote agent asks', async (t) => {
  const inner = await served(t, 'Booking', booking)
  const progress: string[] = []
  const book = await a2aOpenAITool(inner.url, { tool, onProgress: (text) => progress.push(text) })
  const model = openAI.scriptedModel(({ toolOutput }) =>
    toolOutput === undefined ? openAI.calls('booking', { message: 'a hotel' }) : openAI.says(toolOutput),
  )
  const agent = new OpenAIAgent({ name: 'Travel', model, tools: [book] })
  const outer = await served(t, 'Travel', fromOpenAIAgents(agent, { Runner, RunState }))
  assert.match(await converse(await connect(outer.url)), /Booked for .*guests.*2.* in Rome/)
  assert.deepEqual(progress, ['looking for hotels'])
})

it('gives an OpenAI agent outside of a task the question and the task to continue', async (t) => {
  const inner = await served(t, 'Booking', booking)
  const book = await a2aOpenAITool(inner.url, { tool })
  const model = openAI.scriptedModel(({ toolOutput }) =>
    toolOutput === undefined ? openAI.calls('booking', { message: 'a hotel' }) : openAI.says(toolOutput),
  )
  const agent = new OpenAIAgent({ name: 'Travel', model, tools: [book] })
  const result = await new Runner({ tracingDisabled: true }).run(agent, 'go', { stream: true })
  await result.completed
  assert.match(String(result.finalOutput), /Which city\?.*taskId/)
})
