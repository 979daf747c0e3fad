/**
 * A model for tests: a local endpoint of the chat completions API that answers by a script, in any number of chunks, and
 * can misbehave in all the ways that endpoints do.
 */
import { omitUndefined } from '@parley/a2a'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

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

export interface ScriptedCall {
  readonly name: string
  /** A string is sent unchanged, so it may be invalid JSON. */
  readonly input: unknown
  readonly id?: string
}

export type ScriptedReply =
  /** An answer: text in these chunks, then tool calls, each in `fragments` pieces. */
  | {
      readonly say?: string | readonly string[]
      readonly calls?: readonly ScriptedCall[]
      readonly fragments?: number
      readonly refuse?: string
      readonly finish?: string
      readonly usage?: Readonly<Record<string, unknown>> | false
      /** Awaited before each chunk. */
      before?(piece: number): Promise<unknown>
      /** Cuts the connection after this many chunks. */
      readonly cutAfter?: number
      /** Sends nothing more after this many chunks, and keeps the connection open. */
      readonly hangAfter?: number
    }
  /** A response that is not an answer. */
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body: string | readonly string[]
      /** The response never ends. */
      readonly hang?: true
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
    if (path.endsWith('/models')) return list(response)
    const body = JSON.parse(await textOf(request)) as SeenBody
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()))
    const asked = { path, headers: request.headers, body, said: lastMessageText(body), closed }
    requests.push(asked)
    for (const { fits, resolve } of waiting) if (fits(asked, requests.length - 1)) resolve(asked)
    const reply = await model.script(asked, requests.length)
    if ('status' in reply) await raw(response, reply)
    else if (body.stream === true) await stream(response, reply, body.model)
    else await whole(response, reply, body.model)
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

type ScriptedAnswer = Exclude<ScriptedReply, { status: number }>

const usualUsage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }

async function stream(response: ServerResponse, reply: ScriptedAnswer, model: string): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  response.flushHeaders()
  const deltas = deltasOf(reply)
  for (const [index, delta] of deltas.entries()) {
    await reply.before?.(index)
    if (reply.hangAfter === index) return
    if (reply.cutAfter === index) return void response.destroy()
    await send(response, { object: 'chat.completion.chunk', model, choices: [{ index: 0, delta }] })
  }
  if (reply.hangAfter !== undefined) return
  if (reply.cutAfter !== undefined) return void response.destroy()
  const choices = [{ index: 0, delta: {}, finish_reason: finishOf(reply) }]
  await send(response, { object: 'chat.completion.chunk', model, choices })
  const { usage = usualUsage } = reply
  if (usage !== false) await send(response, { object: 'chat.completion.chunk', model, choices: [], usage })
  response.end('data: [DONE]\n\n')
}

async function whole(response: ServerResponse, reply: ScriptedAnswer, model: string): Promise<void> {
  await reply.before?.(0)
  if (reply.hangAfter !== undefined) return
  if (reply.cutAfter !== undefined) return void response.destroy()
  const { usage = usualUsage } = reply
  const tool_calls = reply.calls?.map((call, index) => ({
    id: idOf(call, index),
    type: 'function',
    function: called(call),
  }))
  const message = {
    role: 'assistant',
    content: reply.say === undefined ? null : [reply.say].flat().join(''),
    ...omitUndefined({ tool_calls, refusal: reply.refuse }),
  }
  const choices = [{ index: 0, message, finish_reason: finishOf(reply) }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'chat.completion', model, choices, ...(usage !== false ? { usage } : {}) }))
}

async function raw(response: ServerResponse, reply: Extract<ScriptedReply, { status: number }>): Promise<void> {
  response.writeHead(reply.status, reply.headers)
  response.flushHeaders()
  for (const piece of [reply.body].flat()) await write(response, piece)
  if (reply.hang !== true) response.end()
}

function deltasOf({ say = [], calls = [], fragments = 1, refuse }: ScriptedAnswer): readonly object[] {
  const texts = (typeof say === 'string' ? [say] : say).map((content) => ({ content }))
  const refusals = refuse === undefined ? [] : [{ refusal: refuse }]
  const called = calls.flatMap((call, index) => callDeltas(call, index, fragments))
  return [{ role: 'assistant', content: '' }, ...texts, ...refusals, ...called]
}

function callDeltas(call: ScriptedCall, index: number, fragments: number): readonly object[] {
  const { name, arguments: input } = called(call)
  const size = Math.max(1, Math.ceil(input.length / fragments))
  const pieces = Array.from({ length: fragments }, (_, at) => input.slice(at * size, (at + 1) * size))
  const first = { index, id: idOf(call, index), type: 'function', function: { name, arguments: '' } }
  return [first, ...pieces.map((piece) => ({ index, function: { arguments: piece } }))].map((one) => ({
    tool_calls: [one],
  }))
}

function called({ name, input }: ScriptedCall): { name: string; arguments: string } {
  return { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) }
}

const idOf = ({ id }: ScriptedCall, index: number): string => id ?? `call-${index + 1}`

const finishOf = ({ finish, calls }: ScriptedAnswer): string => finish ?? (calls === undefined ? 'stop' : 'tool_calls')

const send = (response: ServerResponse, chunk: object): Promise<void> =>
  write(response, `data: ${JSON.stringify(chunk)}\n\n`)

async function write(response: ServerResponse, text: string): Promise<void> {
  if (!response.write(text)) await Promise.race([once(response, 'drain'), once(response, 'close')])
}
