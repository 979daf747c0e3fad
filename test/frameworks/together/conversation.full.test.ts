/** An agent of the AI SDK calls one of LangGraph through A2A, which asks a question that the first caller answers. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { AIMessage } from '@langchain/core/messages'
import { tool as langChainTool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { memoryStore, type Agent } from '@parley/a2a'
import type { FullStore, LogRecord } from '@parley/a2a/stores'
import { a2aTool, fromAiSdk } from '@parley/a2a/adapters/ai-sdk'
import { a2aTool as a2aLangChainTool, fromLangGraph } from '@parley/a2a/adapters/langgraph'
import { connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'
import { ToolLoopAgent } from 'ai'
import { createAgent } from 'langchain'
import { calls, says, scriptedModel } from '../ai-sdk/scripted-model.ts'
import { ScriptedChatModel } from '../langgraph/scripted-chat-model.ts'

interface Served {
  readonly url: string
  readonly store: FullStore
}

async function served(t: TestContext, name: string, agent: Agent): Promise<Served> {
  const store = memoryStore()
  const server = await serve({ name, description: `${name} for tests`, agent, store, port: 0, quiet: true })
  t.after(() => server.close())
  return { url: server.url, store }
}

/** Asks for the city, then answers. */
function bookingGraph(counts: { runs: number }): Agent {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('book', async ({ messages }) => {
      counts.runs += 1
      const city = interrupt('Which city?') as string
      return { messages: [new AIMessage(`Booked ${messages.at(-1)?.text} in ${city}`)] }
    })
    .addEdge(START, 'book')
    .compile()
  return fromLangGraph(graph)
}

async function logsOf({ store }: Served): Promise<readonly LogRecord[]> {
  const { tasks } = await store.tasks.search({ limit: 100 })
  const logs = await Promise.all(tasks.map(({ id }) => store.tasks.read(id, 0)))
  return logs.flat()
}

it('answers a question of the inner agent, in one task and one trace', async (t) => {
  const counts = { runs: 0 }
  const inner = await served(t, 'Booking', bookingGraph(counts))
  const book = await a2aTool(inner.url)
  const model = scriptedModel(({ toolResult }) =>
    toolResult === undefined ? calls('book', { message: 'a hotel' }) : says(`Done: ${JSON.stringify(toolResult)}`),
  )
  const outer = await served(t, 'Travel', fromAiSdk(new ToolLoopAgent({ model, tools: { book } })))

  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const caller = await connect(outer.url, { trace: () => ({ traceparent: `00-${traceId}-b7ad6b7169203331-01` }) })
  const asked = await caller.send('Book me a hotel')
  assert.ok(asked.kind === 'task')
  assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(asked.status))
  assert.match(JSON.stringify(asked.status.message), /Which city\?/)

  const done = await caller.send('Rome', { taskId: asked.id, contextId: asked.contextId ?? '' })
  assert.ok(done.kind === 'task')
  assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
  assert.match(JSON.stringify(done.artifacts), /Booked a hotel in Rome/)
  assert.equal(counts.runs, 2, 'once to the question, once with the answer')

  const outerSpans = (await logsOf(outer)).flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
  assert.deepEqual(
    ['tool', 'hop', 'model'].map((kind) => outerSpans.some((span) => span.kind === kind)),
    [true, true, true],
  )
  const hop = outerSpans.find(({ kind }) => kind === 'hop')
  const received = (await logsOf(inner)).flatMap(({ body }) =>
    body.type === 'message' ? [body.options?.traceparent] : [],
  )
  assert.equal(received.length, 2)
  assert.ok(received.every((traceparent) => traceparent?.startsWith(`00-${traceId}-${hop?.spanId}`)))
})

it('interrupts an outer graph with the question of the inner agent', async (t) => {
  const inner = await served(t, 'Booking', bookingGraph({ runs: 0 }))
  const book = await a2aLangChainTool(inner.url, { tool: langChainTool as never, interrupt })
  const model = new ScriptedChatModel(function* ({ toolResult }) {
    if (toolResult === undefined) yield { tool: 'booking', args: { message: 'a table' } }
    else yield `Done: ${toolResult}`
  })
  const outer = await served(t, 'Travel', fromLangGraph(createAgent({ model, tools: [book as never] })))
  const caller = await connect(outer.url)
  const asked = await caller.send('Book me a table')
  assert.ok(asked.kind === 'task')
  assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED', JSON.stringify(asked.status))
  assert.match(JSON.stringify(asked.status.message), /Which city\?/)
  const done = await caller.send('Oslo', { taskId: asked.id, contextId: asked.contextId ?? '' })
  assert.match(JSON.stringify(done.kind === 'task' ? done.artifacts : done), /Booked a table in Oslo/)
  const messages = (await logsOf(inner)).filter(({ body }) => body.type === 'message')
  assert.equal(messages.length, 2, 'the node ran twice, and sent its message once')
})

it('gives the question to the model outside of a turn', async (t) => {
  const inner = await served(t, 'Booking', bookingGraph({ runs: 0 }))
  const book = await a2aTool(inner.url)
  const results = await Array.fromAsync(book.execute({ message: 'a room' }, { toolCallId: 'call-1' }))
  const last = results.at(-1)
  assert.ok(typeof last === 'object')
  assert.equal(last.question, 'Which city?')
  const answered = await (await connect(inner.url)).send('Rome', { taskId: last.taskId })
  assert.match(JSON.stringify(answered), /Booked a room in Rome/)
})
