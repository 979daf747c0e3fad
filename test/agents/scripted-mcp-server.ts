/**
 * An MCP server whose tools behave well or badly, each in one way. They report their steps to
 * `ServerControls`, which a test in this process or in another one watches.
 */
import { acceptedContent, inputRequired, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import type { CallToolResult, InputRequiredResult, ServerContext, Tool } from '@modelcontextprotocol/server'
import { z } from 'zod'

export interface ServerControls {
  /** Reports a step: `begun`, `stopped`. */
  report(what: string): void
  /** Resolves when the test releases the waiting calls. */
  waitForRelease(): Promise<void>
  /** Ends the server, or the connection, in the middle of a call. */
  crash(): void
}

/** What one connection remembers, or the whole server where there are no connections. */
interface ScriptedSession {
  remembered: string
  extra: boolean
}

const text = { type: 'string' } as const
const object = (properties: Record<string, unknown> = {}, required = Object.keys(properties)): Tool['inputSchema'] =>
  ({ type: 'object', properties, required }) as Tool['inputSchema']
const nothing = object()

const tools: readonly Tool[] = [
  { name: 'say', description: 'Says it', inputSchema: object({ text }), annotations: { idempotentHint: true } },
  { name: 'wait', inputSchema: nothing },
  { name: 'wait_safely', title: 'Wait, safely', inputSchema: nothing, annotations: { readOnlyHint: true } },
  { name: 'remember', inputSchema: object({ text }) },
  { name: 'recall', inputSchema: nothing, annotations: { readOnlyHint: true } },
  { name: 'book', inputSchema: nothing },
  { name: 'book_and_die', inputSchema: nothing },
  { name: 'add', inputSchema: object({ a: { type: 'number' }, b: { type: 'number' } }) },
  { name: 'fail', inputSchema: object({ text }) },
  { name: 'break', inputSchema: nothing },
  { name: 'die', inputSchema: nothing },
  { name: 'hang', inputSchema: nothing },
  { name: 'flood', inputSchema: object({ count: { type: 'integer' } }) },
  { name: 'huge', inputSchema: object({ bytes: { type: 'integer' } }) },
  { name: 'nonsense', inputSchema: nothing },
  {
    name: 'promise',
    inputSchema: nothing,
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
  },
  { name: 'sample', inputSchema: nothing },
  { name: 'grow', inputSchema: nothing },
]

const say = (words: string): CallToolResult => ({ content: [{ type: 'text', text: words }] })

/** `pushes`: it asks by server requests, as servers did before the version of 2026-07-28. */
export function createScriptedMcpServer(
  controls: ServerControls,
  { pushes = false, session = createScriptedSession() } = {},
): Server {
  const server = new Server(
    { name: 'scripted', title: 'Scripted server', version: '1.2.3', websiteUrl: 'https://example.com/scripted' },
    {
      capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
      instructions: 'Runs its script.\n\nAnd more text.',
    },
  )
  server.setRequestHandler('tools/list', () => ({
    tools: [...tools, ...(session.extra ? [{ name: 'more', inputSchema: nothing }] : [])],
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const input = (params.arguments ?? {}) as Record<string, never>
    return act(params.name, input, context)
  })
  server.setRequestHandler('prompts/list', () => ({
    prompts: [{ name: 'greet', title: 'Greeting', arguments: [{ name: 'who', required: true }] }],
  }))
  server.setRequestHandler('prompts/get', ({ params }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${params.arguments?.['who']}` } }],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: `what is at ${uri}` }],
  }))
  return server

  async function act(
    name: string,
    input: Record<string, never>,
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    switch (name) {
      case 'say':
        return say(input['text'] ?? '')
      case 'wait':
      case 'wait_safely':
        return wait(context)
      case 'remember':
        session.remembered = input['text'] ?? ''
        return say('noted')
      case 'recall':
        return say(session.remembered)
      case 'book':
        return book(context)
      case 'book_and_die':
        void controls.waitForRelease().then(() => controls.crash())
        return book(context)
      case 'add':
        return say(String(Number(input['a']) + Number(input['b'])))
      case 'fail':
        return { ...say(input['text'] ?? ''), isError: true }
      case 'break':
        throw new ProtocolError(ProtocolErrorCode.InternalError, 'host-17 is down')
      case 'die':
        controls.crash()
        return new Promise(() => {})
      case 'hang':
        controls.report('begun')
        return new Promise(() => {})
      case 'flood':
        return flood(Number(input['count']), context)
      case 'huge':
        return say('x'.repeat(Number(input['bytes'])))
      case 'nonsense':
        return { content: 'no list' } as never
      case 'promise':
        return { content: [], structuredContent: { sum: 'many' } }
      case 'sample':
        return sample()
      case 'grow':
        session.extra = true
        await server.sendToolListChanged()
        return say('grown')
      case 'more':
        return say('more')
      default:
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${name} not found`)
    }
  }

  async function wait({ mcpReq }: ServerContext): Promise<CallToolResult> {
    const stopped = new Promise<void>((resolve) => mcpReq.signal.addEventListener('abort', () => resolve()))
    controls.report('begun')
    await Promise.race([controls.waitForRelease(), stopped])
    if (!mcpReq.signal.aborted) return say('the gate is open')
    controls.report('stopped')
    throw new Error('it was stopped')
  }

  async function book({ mcpReq }: ServerContext): Promise<CallToolResult | InputRequiredResult> {
    const requestedSchema = { type: 'object' as const, properties: { city: text }, required: ['city'] }
    const form = { message: 'Which city?', requestedSchema }
    if (!pushes) {
      const city = acceptedContent(mcpReq.inputResponses, 'city')?.['city']
      if (city !== undefined) return say(`A flight to ${String(city)}`)
      const hasAnswered = mcpReq.inputResponses !== undefined
      return hasAnswered ? say('No flight') : inputRequired({ inputRequests: { city: inputRequired.elicit(form) } })
    }
    const { action, content } = await mcpReq.elicitInput(form)
    return say(action === 'accept' ? `A flight to ${String(content?.['city'])}` : `No flight: ${action}`)
  }

  async function flood(count: number, { mcpReq }: ServerContext): Promise<CallToolResult> {
    const { _meta: { progressToken = '' } = {} } = mcpReq
    for (let progress = 1; progress <= count; progress += 1) {
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: count } })
    }
    return say('flooded')
  }

  /** The client did not declare the capability: it asks anyway. */
  async function sample(): Promise<CallToolResult | InputRequiredResult> {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'hi' } }]
    const params = { messages, maxTokens: 10 }
    if (!pushes) return inputRequired({ inputRequests: { model: inputRequired.createMessage(params) } })
    await server.request({ method: 'sampling/createMessage', params }, z.unknown())
    return say('a model has answered')
  }
}

export const createScriptedSession = (): ScriptedSession => ({ remembered: '', extra: false })
