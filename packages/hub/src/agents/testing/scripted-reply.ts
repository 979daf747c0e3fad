/**
 * The replies of a scripted model, and how they are written: as a stream, as one answer, or as a response that is not an
 * answer.
 */
import { omitUndefined } from '@parley/a2a/internal'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

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

type ScriptedAnswer = Exclude<ScriptedReply, { status: number }>

const usualUsage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 }

export async function writeStream(response: ServerResponse, reply: ScriptedAnswer, model: string): Promise<void> {
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

export async function writeAnswer(response: ServerResponse, reply: ScriptedAnswer, model: string): Promise<void> {
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

export async function writeResponse(
  response: ServerResponse,
  reply: Extract<ScriptedReply, { status: number }>,
): Promise<void> {
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
