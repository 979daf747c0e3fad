/** Stands in for a language model: it serves the chat completions API, streams word by word, and knows one sentence. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

interface ChatRequest {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}

const server = createServer((request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  if (request.url === '/v1/models') return response.end(JSON.stringify({ data: [{ id: 'scripted', object: 'model' }] }))
  if (request.url !== '/v1/chat/completions') return response.writeHead(404).end()
  const { messages, model, stream } = (await json(request)) as ChatRequest
  const words = `You said ${JSON.stringify(messages.at(-1)?.content)}, and I am only a script.`
  const about = { id: 'chatcmpl-1', model, created: Math.floor(Date.now() / 1000) }
  if (stream !== true) {
    const message = { role: 'assistant', content: words }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return response.end(JSON.stringify({ ...about, object: 'chat.completion', choices }))
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (delta: object, finish_reason: string | null): void => {
    const chunk = { ...about, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  for (const word of words.split(/(?<= )/)) say({ content: word }, null)
  say({}, 'stop')
  return response.end('data: [DONE]\n\n')
}

server.listen(Number(process.env['PORT'] ?? 4010), '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  console.log(`A scripted model is at http://127.0.0.1:${port}/v1`)
})
