/**
 * A model for tests: a local endpoint of the chat completions API that answers by a script, in any number of chunks, and
 * can misbehave in all the ways that endpoints do.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ScriptedReply, writeStream, writeAnswer, writeResponse } from './scripted-reply.ts'

/** What a test inspects of a request. */
export interface SeenRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: SeenBody
  /** The text of the last message. */
  readonly said: string
  /** Resolves when the connection is closed or the answer is complete. */
  readonly closed: Promise<void>
}

export interface SeenBody {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly { role: string; content: unknown; tool_calls?: unknown; tool_call_id?: string }[]
  readonly tools?: readonly { function: { name: string; description: string; parameters: unknown } }[]
  readonly [key: string]: unknown
}

export type Script = (request: SeenRequest, count: number) => ScriptedReply | Promise<ScriptedReply>

export interface ScriptedModel {
  /** Includes `/v1`. */
  readonly url: string
  /** Requests to `/chat/completions`, in order. */
  readonly requests: readonly SeenRequest[]
  /** Resolves to the request with this number, counted from 1, when it has arrived. */
  request(count: number): Promise<SeenRequest>
  /** Resolves to the first request whose last message is this, when it has arrived. */
  requestSaying(said: string): Promise<SeenRequest>
  /** The ids that `/models` lists; undefined if there is no list. */
  models: readonly string[] | undefined
  /** What the path of one model responds, with 404. */
  missingModelBody: string
  /** The key that requests must have, if any. */
  apiKey?: string
  script: Script
  close(): Promise<void>
}

export async function scriptedModel(script: Script): Promise<ScriptedModel> {
  const requests: SeenRequest[] = []
  const waiting: { fits: RequestMatcher; resolve(request: SeenRequest): void }[] = []
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const model: ScriptedModel = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    models: ['scripted'],
    missingModelBody: '{"error":{"message":"No such model","code":"model_not_found"}}',
    script,
    request: (count) => seen((_, index) => index === count - 1),
    requestSaying: (said) => seen((request) => request.said === said),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return model

  function seen(fits: RequestMatcher): Promise<SeenRequest> {
    const there = requests.find(fits)
    if (there !== undefined) return Promise.resolve(there)
    return new Promise((resolve) => waiting.push({ fits, resolve }))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', 'http://model').pathname
    if (model.apiKey !== undefined && request.headers.authorization !== `Bearer ${model.apiKey}`)
      return refuse(response)
    if (path.endsWith('/models')) return list(response)
    if (path.includes('/models/')) return void response.writeHead(404).end(model.missingModelBody)
    const body = JSON.parse(await textOf(request)) as SeenBody
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()))
    const asked = { path, headers: request.headers, body, said: lastMessageText(body), closed }
    requests.push(asked)
    for (const { fits, resolve } of waiting) if (fits(asked, requests.length - 1)) resolve(asked)
    const reply = await model.script(asked, requests.length)
    if ('status' in reply) await writeResponse(response, reply)
    else if (body.stream === true) await writeStream(response, reply, body.model)
    else await writeAnswer(response, reply, body.model)
  }

  function refuse(response: ServerResponse): void {
    response.writeHead(401, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }))
  }

  function list(response: ServerResponse): void {
    response.writeHead(model.models === undefined ? 404 : 200, { 'content-type': 'application/json' })
    const data = model.models?.map((id) => ({ id, object: 'model', owned_by: 'tests' }))
    response.end(JSON.stringify(data === undefined ? { error: { message: 'no such path' } } : { object: 'list', data }))
  }
}

type RequestMatcher = (request: SeenRequest, index: number) => boolean

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}

function lastMessageText({ messages }: SeenBody): string {
  const content = messages.at(-1)?.content
  if (typeof content === 'string') return content
  return (Array.isArray(content) ? (content as { text?: string }[]) : []).map(({ text = '' }) => text).join('\n')
}
