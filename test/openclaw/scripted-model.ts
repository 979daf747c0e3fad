/** The model behind a real gateway: an OpenAI-compatible endpoint on loopback with the answers of the scripted responder. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createScriptedResponder } from '../agents/openclaw-gateway/scripted-responder.ts'
import type { ScriptedResponder } from '../agents/openclaw-gateway/scripted-responder.ts'

export interface ScriptedModel {
  readonly baseUrl: string
  readonly responder: ScriptedResponder
  /** The user texts of the last request, as the gateway wrote them. */
  lastUserTexts(): readonly string[]
  close(): Promise<void>
}

interface ChatMessage {
  readonly role: string
  readonly content: unknown
}

export async function openScriptedModel(): Promise<ScriptedModel> {
  const mind = createScriptedResponder()
  let userTexts: readonly string[] = []
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  // The gateway keeps connections open, which are not leaks of the agent under test.
  server.on('connection', (socket) => socket.unref())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    responder: mind,
    lastUserTexts: () => userTexts,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { messages = [] } = JSON.parse(await textOf(request)) as { messages?: readonly ChatMessage[] }
    // The gateway adds its own message after the caller's.
    const relevant = messages.filter((message) => !textOfMessage(message).includes('BEGIN_OPENCLAW_INTERNAL_CONTEXT'))
    userTexts = relevant.filter(({ role }) => role === 'user').map(textOfMessage)
    const last = relevant.at(-1)
    const left = new AbortController()
    response.once('close', () => left.abort())
    let isBegun = false
    const chunk = (piece: object, finish: string | null = null): void => {
      if (!isBegun) response.writeHead(200, { 'content-type': 'text/event-stream' })
      isBegun = true
      const choices = [{ index: 0, delta: piece, finish_reason: finish }]
      response.write(
        `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'scripted', choices })}\n\n`,
      )
    }
    const wish = await mind.respond({
      messages: userTexts,
      say: (content) => chunk({ role: 'assistant', content }),
      signal: left.signal,
      ...(last?.role === 'tool' ? { result: textOfMessage(last) } : {}),
    })
    if (left.signal.aborted) return
    if (wish.kind === 'failed') {
      // Not a 500: the gateway would retry for more than a minute.
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: wish.message, type: 'invalid_request_error' } }))
      return
    }
    if (wish.kind === 'exec') {
      const call = { name: 'exec', arguments: JSON.stringify({ command: wish.command }) }
      chunk({ tool_calls: [{ index: 0, id: `call_${Date.now()}`, type: 'function', function: call }] })
      chunk({}, 'tool_calls')
    } else chunk({}, 'stop')
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
    response.write(
      `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'scripted', choices: [], usage })}\n\n`,
    )
    response.end('data: [DONE]\n\n')
  }
}

function textOfMessage({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly { readonly text?: string; readonly type: string }[])
    .map(({ text, type }) => text ?? `[${type}]`)
    .join('')
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}
