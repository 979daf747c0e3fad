/** The HTTP endpoint of the fake gateway: chat completions, with the endings of current and older gateways. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Runs } from './runs.ts'
import type { GatewayFaults } from './faults.ts'

export interface HttpDeps {
  readonly token: string
  readonly trouble: GatewayFaults
  readonly runs: Runs
  /** Bodies of all requests, oldest first. */
  readonly bodies: { readonly headers: IncomingMessage['headers']; readonly body: Readonly<Record<string, unknown>> }[]
}

export async function serveHttp(request: IncomingMessage, response: ServerResponse, parts: HttpDeps): Promise<void> {
  const { trouble } = parts
  if (request.url === '/readyz') return answer(response, 200, { ready: true })
  if (trouble.http === 'off') return answer(response, 404, 'Not Found')
  if (request.headers.authorization !== `Bearer ${parts.token}`) {
    return answer(response, 401, { error: { message: 'Unauthorized', type: 'unauthorized' } })
  }
  if (request.url === '/v1/models') return answer(response, 200, { object: 'list', data: [{ id: 'openclaw/main' }] })
  if (request.url !== '/v1/chat/completions') return answer(response, 404, 'Not Found')
  const body = JSON.parse(await textOf(request)) as Readonly<Record<string, unknown>>
  parts.bodies.push({ headers: request.headers, body })
  const messages = body['messages'] as readonly { readonly content: unknown }[]
  const session = String(request.headers['x-openclaw-session-key'] ?? 'agent:main:http')
  const run = parts.runs.begin(textOfContent(messages.at(-1)?.content), session)
  response.once('close', () => response.writableFinished || run.abort('rpc'))
  if (body['stream'] !== true) {
    const ending = await run.finished
    if (!ending.ok)
      return answer(response, 400, { error: { message: 'secret-host said no', type: 'invalid_request_error' } })
    const choices = [{ index: 0, message: { role: 'assistant', content: run.text() }, finish_reason: 'stop' }]
    return answer(response, 200, { object: 'chat.completion', choices, usage })
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const chunk = (piece: object): void => void response.write(`data: ${JSON.stringify(piece)}\n\n`)
  chunk({ choices: [{ index: 0, delta: { role: 'assistant' } }] })
  let sent = ''
  const flush = (): void => {
    const text = run.text()
    if (text.length > sent.length) chunk({ choices: [{ index: 0, delta: { content: text.slice(sent.length) } }] })
    sent = text
  }
  const timer = setInterval(flush, 5)
  const ending = await run.finished
  clearInterval(timer)
  flush()
  if (!ending.ok && trouble.http === 'older')
    chunk({ choices: [{ index: 0, delta: { content: 'Error: internal error' } }] })
  else if (!ending.ok) chunk({ error: { message: 'secret-host said no', type: 'invalid_request_error' } })
  else if (trouble.http === 'on') chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  if (ending.ok) chunk({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

function answer(response: ServerResponse, status: number, body: unknown): void {
  const isText = typeof body === 'string'
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' })
  response.end(isText ? body : JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request) text += String(piece)
  return text
}

function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  return (content as readonly { readonly text?: string }[]).map(({ text = '' }) => text).join('')
}
