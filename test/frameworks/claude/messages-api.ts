/**
 * A stand-in of the model service: the streaming Messages API on loopback. The real program of the SDK calls it, because
 * `ANTHROPIC_BASE_URL` points to it. A script answers each request.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the model answers: text in pieces, or calls of tools. */
export type ModelAnswer =
  | { readonly says: readonly string[] }
  | { readonly calls: readonly ModelToolCall[]; readonly says?: readonly string[] }
  | { readonly thinks: string; readonly says: readonly string[] }
  /** The status of an error. */
  | { readonly error: number; readonly message: string }

export interface ModelToolCall {
  readonly name: string
  readonly input: object
  readonly id?: string
}

/** A request of the program, as far as scripts need it. */
export interface ModelRequest {
  /** The text of the last message that a user wrote. */
  readonly text: string
  /** Everything that users wrote. */
  readonly userTexts: readonly string[]
  /** The last message is the result of a tool: its text. */
  readonly toolResult: string | undefined
  /** All results in the last message. */
  readonly toolResults: readonly string[]
  /** All messages as JSON text. */
  readonly everything: string
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[]
  /** The media types of images and documents in the last message. */
  readonly mediaTypes: readonly string[]
  /** Aborted when the program closes the connection. */
  readonly signal: AbortSignal
}

/** A piece may wait: an answer can be a function that writes piece by piece. */
export type ModelScript = (
  request: ModelRequest,
) => ModelAnswer | ((say: (piece: string) => void) => Promise<void>) | Promise<ModelAnswer>

export interface MessagesApi {
  readonly url: string
  readonly requests: readonly ModelRequest[]
  close(): Promise<void>
}

export const mockModel = 'claude-sonnet-4-5'

export async function openMessagesApi(script: ModelScript, port = 0): Promise<MessagesApi> {
  const requests: ModelRequest[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error(error)
      response.destroy()
    })
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://model')
    const body = await readBody(request)
    if (url.pathname.endsWith('/count_tokens')) return sendJson(response, 200, { input_tokens: 10 })
    if (url.pathname !== '/v1/messages') return sendJson(response, 404, errorOf('not_found_error', 'no such path'))
    const asked = readRequest(body, response)
    // The program also asks for titles and the like, with another system prompt and without tools.
    requests.push(asked)
    const answered = await script(asked)
    if (typeof answered !== 'function' && 'error' in answered)
      return sendJson(response, answered.error, errorOf('invalid_request_error', answered.message))
    const message = new MessageStream(response, body['stream'] === true)
    if (typeof answered === 'function') {
      message.begin({ type: 'text', text: '' })
      await answered((piece) => message.delta({ type: 'text_delta', text: piece }))
      message.finish()
      return message.end('end_turn')
    }
    if ('thinks' in answered)
      message.block({ type: 'thinking', thinking: '', signature: '' }, [
        { type: 'thinking_delta', thinking: answered.thinks },
        { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
      ])
    const says = answered.says ?? []
    if (says.length > 0)
      message.block(
        { type: 'text', text: '' },
        says.map((text) => ({ type: 'text_delta', text })),
      )
    const calls = 'calls' in answered ? answered.calls : []
    for (const { name, input, id = `toolu_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}` } of calls)
      message.block({ type: 'tool_use', id, name, input: {} }, [
        { type: 'input_json_delta', partial_json: JSON.stringify(input) },
      ])
    return message.end(calls.length > 0 ? 'tool_use' : 'end_turn')
  }

  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const usage = {
  input_tokens: 12,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 5,
  service_tier: 'standard',
}

/** Writes one message: as events, or at once for a request that does not stream. */
class MessageStream {
  readonly #response: ServerResponse
  readonly #streams: boolean
  readonly #content: Record<string, unknown>[] = []
  readonly #head: Record<string, unknown>

  constructor(response: ServerResponse, streams: boolean) {
    this.#response = response
    this.#streams = streams
    const id = `msg_${crypto.randomUUID().replaceAll('-', '').slice(0, 24)}`
    this.#head = { id, type: 'message', role: 'assistant', model: mockModel, stop_sequence: null }
    if (!streams) return
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    this.#send('message_start', { message: { ...this.#head, content: [], stop_reason: null, usage } })
  }

  block(start: Record<string, unknown>, deltas: readonly Record<string, unknown>[]): void {
    this.begin(start)
    for (const delta of deltas) this.delta(delta)
    this.finish()
  }

  begin(start: Record<string, unknown>): void {
    this.#content.push({ ...start })
    this.#send('content_block_start', { index: this.#content.length - 1, content_block: start })
  }

  delta(delta: Record<string, unknown>): void {
    const block = this.#content.at(-1)
    if (block !== undefined && delta['type'] === 'text_delta') block['text'] += String(delta['text'])
    if (block !== undefined && delta['type'] === 'input_json_delta')
      block['input'] = JSON.parse(String(delta['partial_json']))
    this.#send('content_block_delta', { index: this.#content.length - 1, delta })
  }

  finish(): void {
    this.#send('content_block_stop', { index: this.#content.length - 1 })
  }

  end(stopReason: string): void {
    if (!this.#streams)
      return sendJson(this.#response, 200, { ...this.#head, content: this.#content, stop_reason: stopReason, usage })
    this.#send('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage })
    this.#send('message_stop', {})
    this.#response.end()
  }

  #send(type: string, fields: object): void {
    if (this.#streams) this.#response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  }
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: string | readonly Block[]
  readonly source?: { readonly media_type?: string }
}

function readRequest(body: Record<string, unknown>, response: ServerResponse): ModelRequest {
  const messages = (body['messages'] ?? []) as readonly { readonly role: string; readonly content: string | Block[] }[]
  const users = messages.filter(({ role }) => role === 'user').map(({ content }) => blocksOf(content))
  // The program adds reminders to what users write.
  const texts = users.map((blocks) => blocks.flatMap(({ text }) => (isReminder(text) ? [] : [text ?? ''])).join('\n'))
  const last = users.at(-1) ?? []
  const results = last
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => withoutReminder(textOf(content ?? '')))
  const abort = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) abort.abort()
  })
  const written = texts.filter((text) => text !== '')
  return {
    text: written.at(-1) ?? '',
    userTexts: written,
    toolResult: results.at(-1),
    toolResults: results,
    everything: JSON.stringify(messages),
    tools: ((body['tools'] ?? []) as readonly { readonly name: string }[]).map(({ name }) => name),
    mediaTypes: last.flatMap(({ source }) => source?.media_type ?? []),
    signal: abort.signal,
  }
}

function isReminder(text: string | undefined): boolean {
  return text === undefined || text.startsWith('<system-reminder>')
}

function withoutReminder(text: string): string {
  return text.split('\n\n<system-reminder>', 1)[0] ?? ''
}

function blocksOf(content: string | readonly Block[]): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function textOf(content: string | readonly Block[]): string {
  return blocksOf(content)
    .map(({ text }) => text ?? '')
    .join('\n')
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const pieces: Buffer[] = []
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
  const text = Buffer.concat(pieces).toString()
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

function errorOf(type: string, message: string): object {
  return { type: 'error', error: { type, message } }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
